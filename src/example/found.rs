//! Where a feature's values are: the rules by which protocol buffers merge what is given more than once.
//!
//! A map entry is `{1: key, 2: value}`, a value is a `Feature` `{1: bytes_list | 2: float_list | 3: int64_list}` (a
//! `oneof`), a list is `{1: repeated value}`, packed or not. Each of them may be given more than once: entries and
//! lists of the same kind are merged, a list of another kind discards what came before it.

use crate::example::wire::{Cursor, DEPTH, Malformed, Parse};
use crate::example::wire::{count_varints, fixed32_tag, length_tag, varint_tag};

/// The kind of a feature's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Byte strings.
    Bytes,
    /// 32-bit floats.
    Float,
    /// 64-bit signed integers.
    Int64,
    /// No list was written at all: as good as a missing feature.
    None,
}

impl Kind {
    /// `bytes`, `float`, `int64` or `none`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bytes => "bytes",
            Kind::Float => "float",
            Kind::Int64 => "int64",
            Kind::None => "none",
        }
    }

    /// The tag of this kind's list within a `Feature`.
    #[inline]
    fn list_tag(self) -> u32 {
        match self {
            Kind::Bytes => length_tag(1),
            Kind::Float => length_tag(2),
            Kind::Int64 => length_tag(3),
            Kind::None => 0,
        }
    }
}

/// How deep a field of these messages may still nest; each level of messages takes one.
pub(crate) const IN_ROOT: usize = DEPTH;
pub(crate) const IN_MAP: usize = DEPTH - 1;
pub(crate) const IN_ENTRY: usize = DEPTH - 2;
/// Within the `Feature` of an entry (that of a step is one level deeper, and gets no less).
const IN_FEATURE: usize = DEPTH - 3;
const IN_LIST: usize = DEPTH - 4;

const ONE: u32 = length_tag(1);
const TWO: u32 = length_tag(2);
const THREE: u32 = length_tag(3);

/// A validated feature: its kind, the number of its values, and the place of the first list that counts. All
/// positions are of the payload; the lists go on in the rest of the `Feature`, then in the rest of the entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub kind: Kind,
    pub count: usize,
    list: (usize, usize),
    feature_end: usize,
    entry_end: usize,
}

impl Found {
    fn none(entry_end: usize) -> Found {
        Found { kind: Kind::None, count: 0, list: (0, 0), feature_end: 0, entry_end }
    }

    /// Takes in one more `Feature` message of the same entry.
    #[inline]
    fn merge_feature(&mut self, mut feature: Cursor<'_>) -> Parse<()> {
        while !feature.at_end() {
            let tag = feature.tag()?;
            let kind = match tag {
                ONE => Kind::Bytes,
                TWO => Kind::Float,
                THREE => Kind::Int64,
                _ if (1..=3).contains(&(tag >> 3)) => return feature.wrong_wire(),
                _ => {
                    feature.skip(tag, IN_FEATURE)?;
                    continue;
                }
            };
            let list = feature.sub()?;
            let count = match kind {
                Kind::Bytes => count_bytes(list)?,
                Kind::Float => count_floats(list)?,
                _ => count_int64s(list)?,
            };
            if kind == self.kind {
                self.count += count;
            } else {
                let list = (list.pos(), list.end());
                *self = Found { kind, count, list, feature_end: feature.end(), entry_end: self.entry_end };
            }
        }
        Ok(())
    }

    /// The lists of this feature, in order.
    pub(crate) fn lists<'a>(&self, payload: &'a [u8]) -> Lists<'a> {
        let (start, end) = self.list;
        let first = (self.kind != Kind::None).then(|| Cursor::part(payload, start, end));
        let feature = Cursor::part(payload, end, self.feature_end.max(end));
        let entry = Cursor::part(payload, feature.end(), self.entry_end.max(feature.end()));
        Lists { tag: self.kind.list_tag(), first, feature, entry }
    }
}

/// A `Feature` message by itself: a step of a feature list.
#[inline]
pub(crate) fn feature(feature: Cursor<'_>) -> Parse<Found> {
    let mut found = Found::none(0);
    found.merge_feature(feature)?;
    Ok(found)
}

/// A map entry of `Features`: key and feature. A missing key is the empty key, a missing value an unset feature.
#[inline]
pub(crate) fn entry<'a>(mut entry: Cursor<'a>) -> Parse<(&'a [u8], Found)> {
    let mut key: &[u8] = &[];
    let mut found = Found::none(entry.end());
    while !entry.at_end() {
        match entry.tag()? {
            ONE => key = entry.sub()?.rest(),
            TWO => found.merge_feature(entry.sub()?)?,
            tag if tag >> 3 <= 2 => return entry.wrong_wire(),
            tag => entry.skip(tag, IN_ENTRY)?,
        }
    }
    Ok((key, found))
}

/// The key of an entry that is known to be valid.
#[inline]
pub(crate) fn entry_key<'a>(mut entry: Cursor<'a>) -> Parse<&'a [u8]> {
    let mut key: &[u8] = &[];
    while !entry.at_end() {
        match entry.tag()? {
            ONE => key = entry.sub()?.rest(),
            tag => entry.skip(tag, IN_ENTRY)?,
        }
    }
    Ok(key)
}

fn count_bytes(mut list: Cursor<'_>) -> Parse<usize> {
    let mut count = 0;
    while !list.at_end() {
        match list.tag()? {
            ONE => {
                list.sub()?;
                count += 1;
            }
            tag if tag >> 3 == 1 => return list.wrong_wire(),
            tag => list.skip(tag, IN_LIST)?,
        }
    }
    Ok(count)
}

fn count_floats(mut list: Cursor<'_>) -> Parse<usize> {
    const UNPACKED: u32 = fixed32_tag(1);
    let mut count = 0;
    while !list.at_end() {
        match list.tag()? {
            ONE => {
                let packed = list.sub()?;
                let bytes = packed.end() - packed.pos();
                if !bytes.is_multiple_of(4) {
                    return Err(Malformed {
                        offset: packed.end(),
                        what: "a float list that ends inside a float",
                    });
                }
                count += bytes / 4;
            }
            UNPACKED => {
                list.fixed32()?;
                count += 1;
            }
            tag if tag >> 3 == 1 => return list.wrong_wire(),
            tag => list.skip(tag, IN_LIST)?,
        }
    }
    Ok(count)
}

fn count_int64s(mut list: Cursor<'_>) -> Parse<usize> {
    const UNPACKED: u32 = varint_tag(1);
    let mut count = 0;
    while !list.at_end() {
        match list.tag()? {
            ONE => count += count_varints(list.sub()?)?,
            UNPACKED => {
                list.varint()?;
                count += 1;
            }
            tag if tag >> 3 == 1 => return list.wrong_wire(),
            tag => list.skip(tag, IN_LIST)?,
        }
    }
    Ok(count)
}

/// Goes through the lists of a [`Found`].
#[derive(Clone, Debug)]
pub(crate) struct Lists<'a> {
    tag: u32,
    first: Option<Cursor<'a>>,
    feature: Cursor<'a>,
    entry: Cursor<'a>,
}

impl<'a> Lists<'a> {
    /// The next list of the feature's kind. What is malformed was refused before, so an error is only an end.
    #[inline]
    fn next_list(&mut self) -> Option<Cursor<'a>> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        self.later_list().ok().flatten()
    }

    fn later_list(&mut self) -> Parse<Option<Cursor<'a>>> {
        loop {
            while !self.feature.at_end() {
                let tag = self.feature.tag()?;
                if tag == self.tag {
                    return self.feature.sub().map(Some);
                }
                self.feature.skip(tag, IN_FEATURE)?;
            }
            if self.entry.at_end() {
                return Ok(None);
            }
            match self.entry.tag()? {
                TWO => self.feature = self.entry.sub()?,
                tag => self.entry.skip(tag, IN_ENTRY)?,
            }
        }
    }
}

/// The runs of values in a feature's lists: a packed run, or one value.
#[derive(Clone, Debug)]
pub(crate) struct Runs<'a> {
    lists: Lists<'a>,
    list: Option<Cursor<'a>>,
}

/// A value, or several packed ones.
pub(crate) enum Run<'a> {
    /// A byte string, or a packed list.
    Length(Cursor<'a>),
    /// An unpacked integer.
    Varint(u64),
    /// An unpacked float.
    Fixed32([u8; 4]),
}

impl<'a> Runs<'a> {
    pub(crate) fn new(found: &Found, payload: &'a [u8]) -> Runs<'a> {
        let mut lists = found.lists(payload);
        let list = lists.next_list();
        Runs { lists, list }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    #[inline]
    fn next(&mut self) -> Option<Run<'a>> {
        const VARINT: u32 = varint_tag(1);
        const FIXED32: u32 = fixed32_tag(1);
        loop {
            let list = self.list.as_mut()?;
            if list.at_end() {
                self.list = self.lists.next_list();
                continue;
            }
            return match list.tag().ok()? {
                ONE => list.sub().ok().map(Run::Length),
                VARINT => list.varint().ok().map(Run::Varint),
                FIXED32 => list.fixed32().ok().map(Run::Fixed32),
                tag => match list.skip(tag, IN_LIST) {
                    Ok(()) => continue,
                    Err(_) => None,
                },
            };
        }
    }
}
