//! Threads that outlive an input: a pool ends with its last run, and to start one costs more than most inputs do.

use std::cell::OnceCell;

use tfrmap::{Batches, DatasetWriter, Features};

thread_local! {
    static RUNS: OnceCell<[Batches; 2]> = const { OnceCell::new() };
}

/// Keeps the pools of one thread and of two.
pub fn keep() {
    RUNS.with(|runs| {
        runs.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = DatasetWriter::create(folder.path().join("data")).unwrap();
            writer.write(b"").unwrap();
            let dataset = writer.finish().unwrap().with_features(Features::raw());
            [1, 2].map(|threads| {
                let mut run = dataset.clone().batches(1).threads(threads);
                assert!(run.next().is_some());
                run
            })
        });
    });
}
