//! Where a feature's values are: the rules by which protocol buffers merge what is given more than once.
//!
//! A map entry is `{1: key, 2: value}`, a value is a `Feature` `{1: bytes_list | 2: float_list | 3: int64_list}` (a
//! `oneof`), a list is `{1: repeated value}`, packed or not. Each of them may be given more than once: entries and
//! lists of the same kind are merged, a list of another kind discards what came before it.

use crate::example::kind::Kind;
use crate::example::plain;
use crate::example::wire::{Cursor, DEPTH, Malformed, Parse};
use crate::example::wire::{count_varints, fixed32_tag, length_tag, varint_tag};

/// How deep a field of these messages may still nest; each level of messages takes one.
pub(crate) const IN_ROOT: usize = DEPTH;
pub(crate) const IN_MAP: usize = DEPTH - 1;
pub(crate) const IN_ENTRY: usize = DEPTH - 2;
/// Within the `Feature` of an entry (that of a step is one level deeper, and gets no less).
pub(super) const IN_FEATURE: usize = DEPTH - 3;
pub(super) const IN_LIST: usize = DEPTH - 4;

const ONE: u32 = length_tag(1);
const TWO: u32 = length_tag(2);
const THREE: u32 = length_tag(3);

/// A validated feature: its kind, the number of its values, and the place of the first list that counts. All
/// positions are of the payload; the lists go on in the rest of the `Feature`, then in the rest of the entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub kind: Kind,
    pub count: usize,
    /// Where the one run of all values starts, if it is known; it ends where the entry does. 0 if not.
    pub(super) run: usize,
    pub(super) list: (usize, usize),
    pub(super) feature_end: usize,
    pub(super) entry_end: usize,
}

impl Found {
    #[inline]
    fn none(entry_end: usize) -> Found {
        Found { kind: Kind::None, count: 0, run: 0, list: (0, 0), feature_end: 0, entry_end }
    }

    /// A feature of one list of one run, at the end of its message.
    #[inline(always)]
    fn plain(feature: &[u8], end: usize) -> Option<Found> {
        let (kind, count, run) = plain::feature(feature)?;
        let run = run.map_or(0, |length| end - length);
        Some(Found { kind, count, run, list: (end, end), feature_end: end, entry_end: end })
    }

    /// Takes in one more `Feature` message of the same entry.
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
                let (feature_end, entry_end) = (feature.end(), self.entry_end.max(feature.end()));
                *self = Found { kind, count, run: 0, list, feature_end, entry_end };
            }
        }
        Ok(())
    }
}

/// A `Feature` message by itself: a step of a feature list.
#[inline]
pub(crate) fn feature(feature: Cursor<'_>) -> Parse<Found> {
    if let Some(found) = Found::plain(feature.rest(), feature.end()) {
        return Ok(found);
    }
    let mut found = Found::none(0);
    found.merge_feature(feature)?;
    Ok(found)
}

/// A map entry of `Features`: key and feature. A missing key is the empty key, a missing value an unset feature.
#[inline(always)]
pub(crate) fn entry<'a>(entry: Cursor<'a>) -> Parse<(&'a [u8], Found)> {
    if let Some((key, feature)) = plain::entry(entry.rest())
        && let Some(found) = Found::plain(feature, entry.end())
    {
        return Ok((key, found));
    }
    any_entry(entry)
}

/// Checks a map entry that is not wanted.
#[inline(always)]
pub(crate) fn check_entry(entry: Cursor<'_>) -> Parse<()> {
    match plain::entry(entry.rest()).and_then(|(_, feature)| plain::feature(feature)) {
        Some(_) => Ok(()),
        None => any_entry(entry).map(drop),
    }
}

#[inline(never)]
fn any_entry<'a>(mut entry: Cursor<'a>) -> Parse<(&'a [u8], Found)> {
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
#[inline(always)]
pub(crate) fn entry_key<'a>(entry: Cursor<'a>) -> &'a [u8] {
    match plain::entry(entry.rest()) {
        Some((key, _)) => key,
        None => any_entry_key(entry).unwrap_or_default(),
    }
}

#[cold]
fn any_entry_key<'a>(mut entry: Cursor<'a>) -> Parse<&'a [u8]> {
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
