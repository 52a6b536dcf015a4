//! One feature of a view: its kind and its values.

use std::fmt;
use std::iter::FusedIterator;

use crate::example::found::Found;
use crate::example::kind::Kind;
use crate::example::runs::{Run, Runs};
use crate::example::wire::Cursor;

/// A feature of an [`Example`](crate::Example): a list of byte strings, floats or integers, borrowed from the record.
#[derive(Clone, Copy)]
pub struct Feature<'a> {
    payload: &'a [u8],
    found: Found,
}

impl<'a> Feature<'a> {
    pub(crate) fn new(payload: &'a [u8], found: Found) -> Feature<'a> {
        Feature { payload, found }
    }

    /// The kind of the values; [`Kind::None`] where the record holds the key but no list.
    pub fn kind(&self) -> Kind {
        self.found.kind
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.found.count
    }

    /// True where there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The byte strings; none where the feature is of another kind.
    pub fn bytes(&self) -> BytesIter<'a> {
        let (runs, left) = self.runs(Kind::Bytes);
        BytesIter { runs, left }
    }

    /// The floats; none where the feature is of another kind. Bits are kept, also those of a NaN.
    pub fn floats(&self) -> FloatIter<'a> {
        let (runs, left) = self.runs(Kind::Float);
        FloatIter { runs, packed: &[], left }
    }

    /// The integers; none where the feature is of another kind.
    pub fn int64s(&self) -> Int64Iter<'a> {
        let (runs, left) = self.runs(Kind::Int64);
        Int64Iter { runs, packed: Cursor::new(&[]), left }
    }

    fn runs(&self, kind: Kind) -> (Option<Runs<'a>>, usize) {
        match self.kind() == kind {
            true => (Some(Runs::new(&self.found, self.payload)), self.len()),
            false => (None, 0),
        }
    }
}

impl fmt::Debug for Feature<'_> {
    /// Kind and count; never values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.kind().name(), self.len())
    }
}

/// The byte strings of a [`Feature`].
#[derive(Clone)]
pub struct BytesIter<'a> {
    runs: Option<Runs<'a>>,
    left: usize,
}

impl<'a> Iterator for BytesIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match self.runs.as_mut()?.next()? {
            Run::Length(value) => {
                self.left -= 1;
                Some(value.rest())
            }
            _ => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The floats of a [`Feature`].
#[derive(Clone)]
pub struct FloatIter<'a> {
    runs: Option<Runs<'a>>,
    packed: &'a [u8],
    left: usize,
}

impl Iterator for FloatIter<'_> {
    type Item = f32;

    #[inline]
    fn next(&mut self) -> Option<f32> {
        loop {
            if let Some((four, rest)) = self.packed.split_first_chunk::<4>() {
                self.packed = rest;
                self.left -= 1;
                return Some(f32::from_le_bytes(*four));
            }
            match self.runs.as_mut()?.next()? {
                Run::Length(packed) => self.packed = packed.rest(),
                Run::Fixed32(four) => {
                    self.left -= 1;
                    return Some(f32::from_le_bytes(four));
                }
                Run::Varint(_) => return None,
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The integers of a [`Feature`].
#[derive(Clone)]
pub struct Int64Iter<'a> {
    runs: Option<Runs<'a>>,
    packed: Cursor<'a>,
    left: usize,
}

impl Iterator for Int64Iter<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        loop {
            if !self.packed.at_end() {
                self.left -= 1;
                return self.packed.varint().ok().map(u64::cast_signed);
            }
            match self.runs.as_mut()?.next()? {
                Run::Length(packed) => self.packed = packed,
                Run::Varint(value) => {
                    self.left -= 1;
                    return Some(value.cast_signed());
                }
                Run::Fixed32(_) => return None,
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for BytesIter<'_> {}
impl ExactSizeIterator for FloatIter<'_> {}
impl ExactSizeIterator for Int64Iter<'_> {}
impl FusedIterator for BytesIter<'_> {}
impl FusedIterator for FloatIter<'_> {}
impl FusedIterator for Int64Iter<'_> {}
