//! How a run goes, and who waits for whom.

use std::time::Duration;

/// How a run went so far.
///
/// `waited_for_data` grows where the loader is the bottleneck, `waited_for_consumer` where the training step is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Batches handed over.
    pub batches: u64,
    /// Rows handed over, and rows lost to the error policy.
    pub records: u64,
    /// Payload bytes of these records.
    pub payload_bytes: u64,
    /// Since the first batch was asked for, until the end of the run.
    pub elapsed: Duration,
    /// Time in which the caller waited for a batch.
    pub waited_for_data: Duration,
    /// Time in which all batches that may be made ahead were ready, and no thread had anything to do.
    pub waited_for_consumer: Duration,
    /// Records whose bytes were looked for in memory before they were needed: samples of each batch, one where the batches
    /// before were there. 0 where the system cannot tell (file systems on servers).
    pub ahead_looked: u64,
    /// Those of them that were there already: all of them on a warm file, few on a cold one.
    pub ahead_hits: u64,
    /// Records whose bytes the system was asked to read ahead of time, because samples of their batch were not there.
    pub ahead_asked: u64,
    /// True where the data is mapped, false where it is read ([`Access`](crate::Access)), as the first of the files tells;
    /// `None` before the first batch.
    pub mapped: Option<bool>,
}

impl Stats {
    /// Records per second.
    pub fn records_per_second(&self) -> f64 {
        per_second(self.records, self.elapsed)
    }

    /// Payload bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.payload_bytes, self.elapsed)
    }
}

fn per_second(count: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { count as f64 / elapsed.as_secs_f64() }
}
