//! The fear: after a restart records come twice, or never, or in another order.

mod pipeline_support;

use pipeline_support::{all_ids, ids, open_case, write_ids};
use proptest::prelude::*;
use tfrmap::{Dataset, ErrorKind, Remainder, State};

/// Runs some steps on some ranks from a state on. Gives what was delivered, in the global order, and the state after.
fn run(
    dataset: &Dataset,
    state: Option<&State>,
    world: u64,
    batch: usize,
    threads: usize,
    steps: usize,
) -> (Vec<i64>, State) {
    let mut rows: Vec<Vec<Vec<i64>>> = Vec::new();
    let mut states: Vec<State> = Vec::new();
    for rank in 0..world {
        let share = dataset.clone().for_rank(rank, world).unwrap();
        let mut batches = share.batches(batch).threads(threads).remainder(Remainder::Pad);
        if let Some(state) = state {
            batches = batches.resume(state).unwrap();
        }
        let delivered = batches.by_ref().take(steps).map(|delivered| {
            let delivered = delivered.unwrap();
            ids(&delivered)
                .into_iter()
                .zip(delivered.valid())
                .filter_map(|(id, valid)| valid.then_some(id))
                .collect()
        });
        rows.push(delivered.collect());
        states.push(batches.state());
    }
    assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "ranks have different states: {states:?}");
    let mut all = Vec::new();
    for step in 0..rows.iter().map(Vec::len).max().unwrap_or(0) {
        for row in 0..batch {
            all.extend(rows.iter().filter_map(|rank| rank[step].get(row)));
        }
    }
    // A state goes through its text, as in a file.
    (all, State::from_json(&states[0].to_json()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    /// 250 runs with four cuts each, on changing ranks, batch sizes and threads.
    #[test]
    fn the_parts_are_the_uninterrupted_run(
        seed in any::<u64>(),
        parts in proptest::collection::vec((1u64..9, 1usize..8, 0usize..9, 0usize..3), 4),
    ) {
        let dataset = open_case("S01_sorted").take(97).shuffled(seed).epochs(3..5);
        let whole = all_ids(dataset.clone().batches(7)).concat();
        let mut delivered = Vec::new();
        let mut state = None;
        for (world, batch, steps, threads) in parts {
            let (part, after) = run(&dataset, state.as_ref(), world, batch, [1, 2, 7][threads], steps);
            delivered.extend(part);
            state = Some(after);
        }
        prop_assert_eq!(&delivered[..], &whole[..delivered.len()]);
        delivered.extend(run(&dataset, state.as_ref(), 5, 3, 2, usize::MAX).0);
        prop_assert_eq!(delivered, whole);
    }
}

#[test]
fn the_remaining_batches_are_those_of_the_uninterrupted_run() {
    let dataset = open_case("S01_sorted").shuffled(9).epochs(0..2);
    let whole = all_ids(dataset.clone().batches(32));
    for cut in [0, 1, 3, 12, 13, 14, 25, 26] {
        let mut batches = dataset.clone().batches(32).threads(2);
        for _ in 0..cut {
            batches.next().unwrap().unwrap();
        }
        let state = batches.state();
        assert!(state.to_json().len() < 200);
        drop(batches);
        for threads in [1, 7] {
            let rest = all_ids(dataset.clone().batches(32).threads(threads).resume(&state).unwrap());
            assert_eq!(rest, whole[cut..], "cut after {cut}");
        }
    }
}

#[test]
fn a_state_fits_its_data_set_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = write_ids(folder.path(), 50, 3).shuffled(1).epochs(0..4);
    let mut batches = dataset.clone().batches(8);
    batches.next().unwrap().unwrap();
    let state = batches.state();
    let refused = |dataset: Dataset, reason: &str| {
        let error = dataset.batches(8).resume(&state).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::StateMismatch);
        assert!(error.to_string().contains(reason), "{error}");
    };
    refused(dataset.clone().take(49), "other verbs");
    refused(open_case("S01_sorted").take(50).shuffled(1), "other records");
    refused(write_other(folder.path()).shuffled(1), "other records");
    refused(dataset.clone().shuffled(2), "seed 1");
    refused(dataset.clone().epochs(1..4), "epoch 0");
    // Other ranks, threads, batch sizes, features and places of the files do not matter.
    let copied = folder.path().join("copy");
    std::fs::create_dir(&copied).unwrap();
    for shard in dataset.shards() {
        std::fs::copy(shard, copied.join(shard.file_name().unwrap())).unwrap();
    }
    let options = tfrmap::OpenOptions::new().missing_index(tfrmap::MissingIndex::InMemory);
    let moved = Dataset::open_with(&options, [&copied]).unwrap().shuffled(1).epochs(0..4);
    assert!(moved.clone().for_rank(1, 2).unwrap().batches(3).threads(5).resume(&state).is_ok());
    assert!(moved.with_features(tfrmap::Features::raw()).batches(8).resume(&state).is_ok());
}

/// As many records in as many shards, one of them different.
fn write_other(folder: &std::path::Path) -> Dataset {
    let other = folder.join("other");
    std::fs::create_dir(&other).unwrap();
    let mut writer = tfrmap::DatasetWriter::create_sharded(other.join("ids"), 3).unwrap();
    for i in 0..50i64 {
        let example =
            tfrmap::ExampleBuilder::new().int64("id", if i == 20 { 21 } else { i }).int64("label", i / 5);
        writer.write(&example.encode()).unwrap();
    }
    writer.finish().unwrap()
}
