//! Data sets for the tests of orders and batches.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use tfrmap::{Batch, Batches, Dataset, DatasetWriter, ExampleBuilder, MissingIndex, OpenOptions, Result};

/// A folder of the reported cases.
pub fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases/dirs").join(name)
}

/// Opens a case without leaving an index beside it.
pub fn open_case(name: &str) -> Dataset {
    let options = OpenOptions::new().missing_index(MissingIndex::InMemory);
    Dataset::open_with(&options, [case(name)]).unwrap()
}

/// Writes `n` Examples with `id` and `label` (sorted, ten classes) into some shards.
pub fn write_ids(folder: &Path, n: u64, shards: u32) -> Dataset {
    let mut writer = DatasetWriter::create_sharded(folder.join("ids"), shards.try_into().unwrap()).unwrap();
    for i in 0..n {
        let example = ExampleBuilder::new().int64("id", i as i64).int64("label", (i * 10 / n) as i64);
        writer.write(&example.encode()).unwrap();
    }
    writer.finish().unwrap()
}

/// The ids of a batch, as its records hold them.
pub fn ids(batch: &Batch) -> Vec<i64> {
    batch.column("id").unwrap().get::<i64>().unwrap().to_vec()
}

/// The ids of all batches that are left.
pub fn all_ids(batches: Batches) -> Vec<Vec<i64>> {
    batches.map(|batch| batch.map(|batch| ids(&batch))).collect::<Result<_>>().unwrap()
}

pub fn sorted(mut values: Vec<i64>) -> Vec<i64> {
    values.sort_unstable();
    values
}
