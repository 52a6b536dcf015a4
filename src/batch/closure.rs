//! Batches of what a closure makes of each record.

use std::sync::Arc;

use crate::batch::job::{Fate, Job, Row};
use crate::dataset::ahead::Ahead;
use crate::dataset::shards::Shards;
use crate::error::{Error, Result};
use crate::record::Record;

/// Records whose frames are longer than this are claimed one by one.
pub(crate) const CLAIM_BYTES: u64 = 32 << 10;

pub(crate) struct ClosureJob<F> {
    shards: Arc<Shards>,
    closure: F,
}

impl<F> ClosureJob<F> {
    pub(crate) fn new(shards: Arc<Shards>, closure: F) -> ClosureJob<F> {
        ClosureJob { shards, closure }
    }
}

impl<T, F> Job for ClosureJob<F>
where
    T: Send + 'static,
    F: Fn(Record) -> Result<T> + Send + Sync + 'static,
{
    type Out = Vec<T>;
    type Worker = Ahead;
    type Block = Vec<Option<T>>;
    type Parts<'b> = &'b mut [Option<T>];
    type Claim<'b> = &'b mut [Option<T>];

    fn begin(&mut self, _rows: usize, _batches: usize) {}

    fn worker(&self) -> Ahead {
        Ahead::default()
    }

    fn rows_per_claim(&self, rows: usize, threads: usize) -> usize {
        // What the closure costs is not known: small batches are split too.
        let by_bytes = CLAIM_BYTES / self.shards.mean_record_bytes().max(1);
        (by_bytes as usize).min(rows.div_ceil(2 * threads)).max(1)
    }

    fn block(&self, rows: &[Row]) -> Result<Vec<Option<T>>> {
        Ok(rows.iter().map(|_| None).collect())
    }

    fn parts<'b>(&self, block: &'b mut Vec<Option<T>>) -> &'b mut [Option<T>] {
        block
    }

    fn claim<'b>(&self, parts: &mut &'b mut [Option<T>], rows: usize, claim: &mut &'b mut [Option<T>]) {
        *claim = parts.split_off_mut(..rows).unwrap_or_default();
    }

    fn prepare(&self, ahead: &mut Ahead, claim: &[Row], next: usize) {
        if claim.len() > 1 {
            self.shards.look_ahead(claim, |row| row.record, next, ahead);
        }
    }

    fn run(
        &self,
        _ahead: &mut Ahead,
        claim: &mut &mut [Option<T>],
        i: usize,
        row: &Row,
        _epoch: u64,
    ) -> Result<u64> {
        let record = self.shards.get(row.record)?;
        let bytes = record.len() as u64;
        claim[i] = Some((self.closure)(record).map_err(|error| self.place(error, row))?);
        Ok(bytes)
    }

    fn finish(
        &self,
        block: Vec<Option<T>>,
        _rows: Vec<Row>,
        _fates: Vec<Fate>,
        _epoch: u64,
    ) -> Result<Vec<T>> {
        Ok(block.into_iter().flatten().collect())
    }

    fn place(&self, error: Error, row: &Row) -> Error {
        self.shards.place(error, row.record)
    }
}
