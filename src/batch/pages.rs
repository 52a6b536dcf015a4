//! Ranges of bytes as the system reads them.

use std::ops::Range;

/// What the system reads at least.
pub(crate) const PAGE: u64 = 4096;
/// The system reads no more than its read-ahead size for one request; 128 KB is the usual one.
pub(crate) const PIECE: u64 = 128 << 10;

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

/// A range as pieces that are read whole.
pub(crate) fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    range.clone().step_by(PIECE as usize).map(move |start| start..range.end.min(start + PIECE))
}
