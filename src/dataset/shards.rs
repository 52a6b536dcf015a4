//! The data files of a data set, one behind the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::record::{OpenOptions, Record, Store};

/// Data files in order. A record's global number counts through all of them.
#[derive(Debug)]
pub(crate) struct Shards {
    stores: Vec<Arc<Store>>,
    /// The global number of the first record of each file, and at the end the number of all records.
    starts: Vec<u64>,
    mean_record_bytes: u64,
}

impl Shards {
    pub(crate) fn open(options: &OpenOptions, paths: &[PathBuf]) -> Result<Shards> {
        Ok(Shards::new(Store::open_all(options, paths)?.into_iter().map(Arc::new).collect()))
    }

    fn new(stores: Vec<Arc<Store>>) -> Shards {
        let mut starts = vec![0];
        let mut total = 0u64;
        starts.extend(stores.iter().map(|store| {
            total = total.saturating_add(store.len());
            total
        }));
        let bytes = stores.iter().fold(0u64, |sum, store| sum.saturating_add(store.data_len()));
        Shards { mean_record_bytes: bytes.checked_div(total).unwrap_or(0), stores, starts }
    }

    /// These files, then those of another data set.
    pub(crate) fn concat(&self, other: &Shards) -> Shards {
        Shards::new(self.stores.iter().chain(&other.stores).cloned().collect())
    }

    /// The number of records.
    pub(crate) fn len(&self) -> u64 {
        self.starts[self.stores.len()]
    }

    /// The mean length of a frame; 0 where there is no record.
    pub(crate) fn mean_record_bytes(&self) -> u64 {
        self.mean_record_bytes
    }

    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.stores.iter().map(|store| store.path())
    }

    pub(crate) fn stores(&self) -> &[Arc<Store>] {
        &self.stores
    }

    /// The file of a record, and its number there. The record is below [`len`](Shards::len).
    #[inline]
    pub(crate) fn locate(&self, record: u64) -> (usize, u64) {
        let shard = self.starts.partition_point(|&start| start <= record) - 1;
        (shard, record - self.starts[shard])
    }

    pub(crate) fn get(&self, record: u64) -> Result<Record> {
        let (shard, i) = self.locate(record);
        self.stores[shard].get(i)
    }

    /// Adds the place of a record to an error about its contents.
    #[cold]
    pub(crate) fn place(&self, error: Error, record: u64) -> Error {
        let (shard, i) = self.locate(record);
        let store = &self.stores[shard];
        let error = error.at_path(store.path()).at_record(i);
        match store.span(i) {
            Ok(span) => error.at_offset(span.offset),
            Err(_) => error,
        }
    }
}
