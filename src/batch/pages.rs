//! Ranges of bytes as the system reads them.

use std::ops::Range;

/// What the system reads at least.
pub(crate) const PAGE: u64 = 4096;

/// A range as whole multiples of a unit.
pub(crate) fn rounded(range: Range<u64>, unit: u64) -> Range<u64> {
    range.start / unit * unit..range.end.div_ceil(unit) * unit
}

/// Ranges in order; those that touch become one.
pub(crate) fn merged(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
