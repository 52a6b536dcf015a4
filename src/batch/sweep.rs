//! Reading all files through, ahead of records that are smaller than what a disk reads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::course::Course;
use crate::batch::pages::PAGE;
use crate::dataset::shards::Shards;
use crate::file;

/// Bytes read through for each byte that was asked for because a record is in it, and at most, so that a batch that is
/// about to be made does not wait for long.
const PACE: u64 = 16;
const STEP: u64 = 32 << 20;
/// Where a batch touches this part of all bytes, reading all of them costs less than reading its records.
const PART: u64 = 32;
/// Random records of this many times the number of pages touch nearly all pages (95 of 100).
const TOUCH_ALL: u64 = 3;

/// Has the system read all files once from begin to end, a step with each batch that was not in memory.
///
/// Records smaller than a page, in random order, cost a disk one access each, though an epoch needs every page. Reading
/// the files through reads the same bytes, in few accesses. Only where an epoch needs (nearly) all pages, and where all
/// of them fit into memory twice, so that none is read again.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// How far it is, over all files one behind the other.
    at: AtomicU64,
    /// How many of these bytes the system has been asked for.
    asked: AtomicU64,
    total: u64,
}

impl Sweep {
    pub(crate) fn new(shards: &Shards, course: &Course) -> Option<Sweep> {
        let total = shards.stores().iter().fold(0u64, |sum, store| sum.saturating_add(store.data_len()));
        let epoch = course.view.len();
        let (number, position) = course.start;
        let left = if number + 1 < course.epochs.end { epoch } else { epoch - position.min(epoch) };
        let share = left / course.ranks.world_size;
        let small = shards.mean_record_bytes() < PAGE;
        let all = epoch >= shards.len() && share >= shards.len().min(TOUCH_ALL * (total / PAGE));
        (small && all && total <= file::cache_room() / 2).then(|| Sweep {
            at: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            total,
        })
    }

    /// True where the sweep brings a batch that touches so many bytes, and its records need not be asked for.
    pub(crate) fn brings(&self, shards: &Shards, bytes: u64) -> bool {
        if self.at.load(Ordering::Relaxed) < self.total && bytes >= self.total / PART {
            self.read(shards, self.total);
            return true;
        }
        let at = self.at.load(Ordering::Relaxed);
        at >= self.total && self.asked.load(Ordering::Relaxed) < self.total
    }

    /// A step, after so many bytes were asked for.
    pub(crate) fn go_on(&self, shards: &Shards, asked: u64) {
        if self.at.load(Ordering::Relaxed) < self.total {
            self.read(shards, asked.saturating_mul(PACE).min(STEP));
        }
    }

    fn read(&self, shards: &Shards, step: u64) {
        let from = self.at.fetch_add(step, Ordering::Relaxed).min(self.total);
        let to = from.saturating_add(step).min(self.total);
        let mut start = 0;
        for store in shards.stores() {
            let end = start + store.data_len();
            let (first, last) = (from.max(start), to.min(end));
            if first < last {
                store.advise_willneed(std::slice::from_ref(&(first - start..last - start)));
            }
            start = end;
        }
        self.asked.fetch_add(to - from, Ordering::Relaxed);
    }
}
