//! What is done for each record: the part of the pipeline that differs between pictures, closures and tests.

use crate::batch::steps::Place;
#[cfg(doc)]
use crate::dataset::ahead::GROUP;
use crate::error::{Error, Result};

/// A row to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The global record number.
    pub(crate) record: u64,
    pub(crate) place: Place,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Good,
    /// To be left out.
    Skipped,
    /// To be zeros.
    Masked,
}

/// Work on one record at a time, in any order and on any thread, into a batch of its own.
pub(crate) trait Job: Send + Sync + 'static {
    /// A finished batch.
    type Out: Send + 'static;
    /// What a thread keeps from record to record.
    type Worker: Send;
    /// A batch in the making: owns the memory.
    type Block: Send;
    /// The rows of a block that nobody has claimed yet.
    type Parts<'b>: Send;
    /// The memory of some rows, claimed by a thread. Reused.
    type Claim<'b>: Default;

    /// Told before a run how many rows its largest batch has, and how many batches there may be at once: in flight, and
    /// one with the caller.
    fn begin(&mut self, rows: usize, batches: usize);

    fn worker(&self) -> Self::Worker;

    /// How many rows a thread claims at once: 1 where a record takes long, more where it takes less than the claiming.
    fn rows_per_claim(&self, rows: usize, threads: usize) -> usize;

    fn block(&self, rows: &[Row]) -> Result<Self::Block>;

    fn parts<'b>(&self, block: &'b mut Self::Block) -> Self::Parts<'b>;

    /// Moves the memory of the next rows into `claim`, replacing what is there.
    fn claim<'b>(&self, parts: &mut Self::Parts<'b>, rows: usize, claim: &mut Self::Claim<'b>);

    /// Told that row `next` of a claim is run next, before the first one and then each [`GROUP`] rows.
    fn prepare(&self, worker: &mut Self::Worker, claim: &[Row], next: usize);

    /// Does the work for row `i` of the claim; gives the number of payload bytes.
    fn run(
        &self,
        worker: &mut Self::Worker,
        claim: &mut Self::Claim<'_>,
        i: usize,
        row: &Row,
        epoch: u64,
    ) -> Result<u64>;

    /// Makes the batch of the rows that are not skipped.
    fn finish(&self, block: Self::Block, rows: Vec<Row>, fates: Vec<Fate>, epoch: u64) -> Result<Self::Out>;

    /// Adds the place of a row's record to an error.
    fn place(&self, error: Error, row: &Row) -> Error;
}
