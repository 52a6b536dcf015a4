//! Asking for the bytes of coming records, because the order is known.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::course::Ticket;
use crate::batch::stats::Stats;
use crate::dataset::shards::Shards;
use crate::frame::{FOOTER_LEN, HEADER_LEN};

/// How many records of a batch are looked for in memory before the system is asked for all of them.
const SAMPLES: u64 = 8;
/// After this many batches that were all there, one record a batch is looked for.
const SETTLED: u64 = 16;
const PAGE: u64 = 4096;
/// The system reads no more than its read-ahead size for one request; 128 KB is the usual one.
const PIECE: u64 = 128 << 10;

/// Asks the system to read the records of coming batches, page by page, neighbours as one range.
///
/// Nothing is asked for where samples of a batch are in memory already: on a warm file this costs next to nothing.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    shards: Arc<Shards>,
    looked: AtomicU64,
    hits: AtomicU64,
    asked: AtomicU64,
    /// Batches in a row that were found in memory.
    there: AtomicU64,
}

impl ReadAhead {
    pub(crate) fn new(shards: Arc<Shards>) -> ReadAhead {
        let zero = || AtomicU64::new(0);
        ReadAhead { shards, looked: zero(), hits: zero(), asked: zero(), there: zero() }
    }

    pub(crate) fn mean_record_bytes(&self) -> u64 {
        self.shards.mean_record_bytes()
    }

    /// Asks for the records of a batch.
    pub(crate) fn ask(&self, ticket: &Ticket) {
        let rows = ticket.rows();
        if self.is_there(ticket, rows) {
            self.there.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.there.store(0, Ordering::Relaxed);
        let mut wanted: Vec<(usize, Range<u64>)> =
            (0..rows).filter_map(|row| self.frame(ticket.row(row).record)).collect();
        self.asked.fetch_add(wanted.len() as u64, Ordering::Relaxed);
        wanted.sort_unstable_by_key(|(shard, range)| (*shard, range.start));
        for shard in wanted.chunk_by(|(one, _), (two, _)| one == two) {
            let ranges = merged(shard.iter().map(|(_, range)| range.clone()));
            let pieces: Vec<_> = ranges.flat_map(pieces).collect();
            self.shards.stores()[shard[0].0].advise_willneed(&pieces);
        }
    }

    /// True where all samples of a batch are in memory.
    fn is_there(&self, ticket: &Ticket, rows: u64) -> bool {
        let settled = self.there.load(Ordering::Relaxed);
        let samples = if settled < SETTLED { rows.min(SAMPLES) } else { 1 };
        let (mut looked, mut hits) = (0, 0);
        for i in 0..samples {
            let row = (i * rows / samples + settled) % rows;
            let Some((shard, range)) = self.frame(ticket.row(row).record) else { continue };
            let Some(there) = self.shards.stores()[shard].is_resident(range) else { return false };
            looked += 1;
            hits += u64::from(there);
        }
        self.looked.fetch_add(looked, Ordering::Relaxed);
        self.hits.fetch_add(hits, Ordering::Relaxed);
        hits == looked
    }

    fn frame(&self, record: u64) -> Option<(usize, Range<u64>)> {
        let (shard, i) = self.shards.locate(record);
        // What is wrong with an index is said when the record is read.
        let span = self.shards.stores()[shard].span(i).ok()?;
        let len = (HEADER_LEN + FOOTER_LEN) as u64 + span.payload_len;
        Some((shard, span.offset..span.offset + len))
    }

    pub(crate) fn add_to(&self, stats: Stats) -> Stats {
        Stats {
            ahead_looked: self.looked.load(Ordering::Relaxed),
            ahead_hits: self.hits.load(Ordering::Relaxed),
            ahead_asked: self.asked.load(Ordering::Relaxed),
            mapped: self.shards.stores().first().filter(|_| stats.batches > 0).map(|store| store.is_mapped()),
            ..stats
        }
    }
}

/// Ranges in order, rounded to pages; those that touch become one.
fn merged(ranges: impl Iterator<Item = Range<u64>>) -> impl Iterator<Item = Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        let range = range.start / PAGE * PAGE..range.end.div_ceil(PAGE) * PAGE;
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged.into_iter()
}

/// A range as pieces that are read whole.
fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    range.clone().step_by(PIECE as usize).map(move |start| start..range.end.min(start + PIECE))
}

#[cfg(test)]
mod tests {
    use super::{merged, pieces};

    #[test]
    fn neighbours_become_one_range() {
        let ranges = [10..20, 4000..5000, 8192..9000, 40_000..40_001];
        assert_eq!(merged(ranges.into_iter()).collect::<Vec<_>>(), [0..12_288, 36_864..40_960]);
        assert_eq!(merged(std::iter::empty()).count(), 0);
        assert_eq!(
            pieces(4096..4096 + 300_000).collect::<Vec<_>>(),
            [4096..135_168, 135_168..266_240, 266_240..304_096]
        );
    }
}
