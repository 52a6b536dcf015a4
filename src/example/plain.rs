//! The shape that almost every writer gives an entry, read without detours: key, then a feature of one list of one run, each
//! part once and nothing else. What has another shape is left to [`found`](crate::example::found), which knows all rules.

use crate::example::kind::Kind;
use crate::example::wire::length;

/// The one part that fills the bytes, of this tag.
#[inline(always)]
fn only(tag: u8, bytes: &[u8]) -> Option<&[u8]> {
    let (&first, rest) = bytes.split_first()?;
    let (length, part) = length(rest)?;
    (first == tag && length == part.len()).then_some(part)
}

/// Key and feature of an entry.
#[inline(always)]
pub(crate) fn entry(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = entry.split_first()?;
    let (length, rest) = length(rest)?;
    let (key, rest) = rest.split_at_checked(length)?;
    let feature = only(0x12, rest)?;
    (first == 0x0a).then_some((key, feature))
}

/// Kind, number of values, and the length of the run that holds them, at the end of a feature. An empty list has none.
#[inline(always)]
pub(crate) fn feature(feature: &[u8]) -> Option<(Kind, usize, Option<usize>)> {
    let &tag = feature.first()?;
    let kind = match tag {
        0x0a => Kind::Bytes,
        0x12 => Kind::Float,
        0x1a => Kind::Int64,
        _ => return None,
    };
    let list = only(tag, feature)?;
    if list.is_empty() {
        return Some((kind, 0, None));
    }
    let run = only(0x0a, list)?;
    let count = match kind {
        Kind::Bytes => 1,
        Kind::Float if run.len().is_multiple_of(4) => run.len() / 4,
        Kind::Int64 => varints(run)?,
        _ => return None,
    };
    Some((kind, count, Some(run.len())))
}

/// The number of varints that fill the bytes.
#[inline(always)]
fn varints(bytes: &[u8]) -> Option<usize> {
    let (mut count, mut run) = (0, 0);
    for &byte in bytes {
        if byte < 0x80 {
            count += 1;
            run = 0;
        } else {
            run += 1;
            if run == 10 {
                return None;
            }
        }
    }
    (run == 0).then_some(count)
}
