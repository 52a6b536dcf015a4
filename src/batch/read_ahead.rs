//! Asking for the bytes of coming records, because the order is known.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::batch::course::{Course, Ticket};
use crate::batch::pages::{PAGE, merged, rounded};
use crate::batch::stats::Stats;
use crate::batch::sweep::Sweep;
use crate::dataset::shards::Shards;
use crate::file::PIECE;
use crate::frame::{FOOTER_LEN, HEADER_LEN};

/// How many records of a batch are looked for in memory before the system is asked for all of them.
const SAMPLES: u64 = 8;
/// After this many batches that were all there, one record a batch is looked for.
const SETTLED: u64 = 16;
/// Bytes asked for ahead of the work, at least, and for each thread. Whole batches, but never more than [`MOST`] of one.
const AHEAD: u64 = 16 << 20;
const AHEAD_PER_THREAD: u64 = 2 << 20;
const MOST: u64 = 128 << 20;
/// Nor more batches: each costs a look, and the first batch of a set of tiny records would wait for very many.
const BATCHES: u64 = 1024;

/// Asks the system to read the records of coming batches, page by page, neighbours as one range.
///
/// Nothing is asked for where samples of a batch are in memory already: on a warm file this costs next to nothing.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    shards: Arc<Shards>,
    /// Small records of a set that fits into memory.
    sweep: Option<Sweep>,
    /// Where records are read as they lie in the files: the shard and the bytes asked for last.
    sequential: Option<Mutex<(usize, Range<u64>)>>,
    looked: AtomicU64,
    hits: AtomicU64,
    asked: AtomicU64,
    /// Batches in a row that were found in memory.
    there: AtomicU64,
}

impl ReadAhead {
    pub(crate) fn new(shards: Arc<Shards>, course: &Course) -> ReadAhead {
        let zero = || AtomicU64::new(0);
        let in_order = course.view.is_sequential() && course.ranks.world_size == 1;
        let sweep = if in_order { None } else { Sweep::new(&shards, course) };
        let sequential = in_order.then(|| Mutex::new((0, 0..0)));
        ReadAhead { shards, sweep, sequential, looked: zero(), hits: zero(), asked: zero(), there: zero() }
    }

    /// How many batches of so many rows are asked for ahead of the one that is begun, that one included.
    pub(crate) fn batches(&self, rows: u64, threads: usize) -> u64 {
        let pages = if self.sequential.is_some() { 0 } else { PAGE - 1 };
        batches(rows.saturating_mul(self.shards.mean_record_bytes() + pages), threads)
    }

    /// Asks for the records of a batch.
    pub(crate) fn ask(&self, ticket: &Ticket) {
        let rows = ticket.rows();
        if self.was_asked_for(ticket, rows) {
            return;
        }
        if self.is_there(ticket, rows) {
            self.there.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.there.store(0, Ordering::Relaxed);
        let (mut asked, mut bytes) = (0, 0);
        let mut wanted: Vec<(usize, Range<u64>)> = Vec::new();
        for row in 0..rows {
            let Some((shard, range)) = self.frame(ticket.row(row).record) else { continue };
            let range = rounded(range, self.unit());
            asked += 1;
            match wanted.last_mut() {
                Some((same, last)) if *same == shard && last.contains(&range.start) => {
                    bytes += range.end.saturating_sub(last.end);
                    last.end = last.end.max(range.end);
                }
                _ => {
                    bytes += range.end - range.start;
                    wanted.push((shard, range));
                }
            }
            // The others are so large that asking for them can wait until they are read.
            if bytes > MOST {
                break;
            }
        }
        self.asked.fetch_add(asked, Ordering::Relaxed);
        if self.sweep.as_ref().is_some_and(|sweep| sweep.brings(&self.shards, bytes)) {
            return;
        }
        wanted.sort_unstable_by_key(|(shard, range)| (*shard, range.start));
        for shard in wanted.chunk_by(|(one, _), (two, _)| one == two) {
            let ranges = merged(shard.iter().map(|(_, range)| range.clone()));
            self.shards.stores()[shard[0].0].advise_willneed(&ranges);
        }
        if let Some(sweep) = &self.sweep {
            sweep.go_on(&self.shards, bytes);
        }
    }

    /// Bytes are asked for in multiples of this.
    fn unit(&self) -> u64 {
        if self.sequential.is_some() { PIECE } else { PAGE }
    }

    /// True where a batch lies in what was asked for last, in sequential order.
    fn was_asked_for(&self, ticket: &Ticket, rows: u64) -> bool {
        let Some(last) = &self.sequential else { return false };
        let ends = (self.frame(ticket.row(0).record), self.frame(ticket.row(rows - 1).record));
        let (Some((shard, first)), Some((same, end))) = ends else { return false };
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if shard == same && shard == last.0 && last.1.start <= first.start && end.end <= last.1.end {
            return true;
        }
        if shard == same {
            *last = (shard, rounded(first.start..end.end, self.unit()));
        }
        false
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

/// How many batches of so many bytes are asked for at a time.
fn batches(batch_bytes: u64, threads: usize) -> u64 {
    let budget = AHEAD.max(AHEAD_PER_THREAD.saturating_mul(threads as u64));
    match budget / batch_bytes.max(1) {
        0 if batch_bytes > MOST => 1,
        batches => 1 + batches.clamp(1, BATCHES),
    }
}

#[cfg(test)]
mod tests;
