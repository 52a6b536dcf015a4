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
const PAGE: u64 = 4096;

/// Asks the system to read the records of coming batches, page by page, neighbours as one range.
///
/// Nothing is asked for where samples of a batch are in memory already: on a warm file this costs next to nothing.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    shards: Arc<Shards>,
    looked: AtomicU64,
    hits: AtomicU64,
    asked: AtomicU64,
}

impl ReadAhead {
    pub(crate) fn new(shards: Arc<Shards>) -> ReadAhead {
        ReadAhead { shards, looked: AtomicU64::new(0), hits: AtomicU64::new(0), asked: AtomicU64::new(0) }
    }

    pub(crate) fn mean_record_bytes(&self) -> u64 {
        self.shards.mean_record_bytes()
    }

    /// Asks for the records of a batch.
    pub(crate) fn ask(&self, ticket: &Ticket) {
        let rows = ticket.rows();
        if self.is_there(ticket, rows) {
            return;
        }
        let mut wanted: Vec<(usize, Range<u64>)> =
            (0..rows).filter_map(|row| self.frame(ticket.row(row).record)).collect();
        self.asked.fetch_add(wanted.len() as u64, Ordering::Relaxed);
        wanted.sort_unstable_by_key(|(shard, range)| (*shard, range.start));
        for shard in wanted.chunk_by(|(one, _), (two, _)| one == two) {
            self.shards.stores()[shard[0].0]
                .advise_willneed(&merged(shard.iter().map(|(_, range)| range.clone())));
        }
    }

    /// True where all samples of a batch are in memory.
    fn is_there(&self, ticket: &Ticket, rows: u64) -> bool {
        let samples = rows.min(SAMPLES);
        let (mut looked, mut hits) = (0, 0);
        for i in 0..samples {
            let Some((shard, range)) = self.frame(ticket.row(i * rows / samples).record) else { continue };
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
            ..stats
        }
    }
}

/// Ranges in order, rounded to pages; those that touch become one.
fn merged(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        let range = range.start / PAGE * PAGE..range.end.div_ceil(PAGE) * PAGE;
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn neighbours_become_one_range() {
        let ranges = [10..20, 4000..5000, 8192..9000, 40_000..40_001];
        assert_eq!(merged(ranges.into_iter()), [0..12_288, 36_864..40_960]);
        assert_eq!(merged(std::iter::empty()), [0u64..0; 0]);
    }
}
