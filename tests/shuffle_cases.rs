//! The fear: a record comes twice or never, the shuffle is none, or the order depends on the machine.

mod pipeline_support;

use pipeline_support::{all_ids, ids, open_case, sorted, write_ids};
use tfrmap::{Dataset, ErrorKind, Remainder};

#[test]
fn sorted_shards_are_mixed_through_and_through() {
    let dataset = open_case("S01_sorted");
    assert_eq!((dataset.len(), dataset.shards().len()), (400, 10));
    for seed in 0..20 {
        let batches: Vec<_> = dataset.clone().shuffled(seed).batches(40).map(Result::unwrap).collect();
        let order: Vec<i64> = batches.iter().flat_map(ids).collect();
        assert_eq!(sorted(order.clone()), (0..400).collect::<Vec<i64>>());
        let moved: i64 = order.iter().enumerate().map(|(position, id)| (position as i64 - id).abs()).sum();
        assert!(
            (110..=155).contains(&(moved / 400)),
            "seed {seed}: records move by {} on average",
            moved / 400
        );
        let mut labels = batches[0].labels().unwrap().to_vec();
        labels.sort_unstable();
        labels.dedup();
        assert!(labels.len() >= 7, "seed {seed}: the first 40 hold {} labels", labels.len());
    }
}

#[test]
fn every_record_comes_once_whatever_the_split() {
    let folder = tempfile::tempdir().unwrap();
    let made: Vec<Dataset> = [1, 2, 7, 64]
        .into_iter()
        .map(|shards| {
            let path = folder.path().join(shards.to_string());
            std::fs::create_dir(&path).unwrap();
            write_ids(&path, 101, shards)
        })
        .chain([open_case("S02_ten"), open_case("S03_three")])
        .collect();
    for dataset in made {
        let n = dataset.len() as i64;
        for threads in [1, 2, 7, 64] {
            for batch in [1, 10, 1000] {
                for world in [1, 3, 8] {
                    let mut seen = Vec::new();
                    for rank in 0..world {
                        let share = dataset.clone().shuffled(4).epoch(2).for_rank(rank, world).unwrap();
                        let batches = share.batches(batch).threads(threads).remainder(Remainder::Keep);
                        seen.extend(all_ids(batches).concat());
                    }
                    assert_eq!(sorted(seen), (0..n).collect::<Vec<_>>(), "{threads} {batch} {world}");
                }
            }
        }
    }
}

#[test]
fn epochs_differ_and_each_can_be_had_at_once() {
    let dataset = open_case("S01_sorted").shuffled(11);
    let through = all_ids(dataset.clone().epochs(0..8).batches(50)).concat();
    let epochs: Vec<&[i64]> = through.chunks(400).collect();
    for (e, epoch) in epochs.iter().enumerate() {
        assert!(epochs[..e].iter().all(|before| before != epoch), "epoch {e} repeats an earlier one");
        assert_eq!(all_ids(dataset.clone().epoch(e as u64).batches(7)).concat(), *epoch);
    }
    let rank_sees = |e: u64| {
        let share = dataset.clone().epoch(e).for_rank(1, 4).unwrap();
        sorted(all_ids(share.batches(10).remainder(Remainder::Drop)).concat())
    };
    assert_ne!(rank_sees(0), rank_sees(1), "a rank has the same records in each epoch");
}

#[test]
fn the_order_is_the_same_for_any_number_of_threads() {
    let dataset = open_case("S01_sorted").shuffled(3).epochs(0..2);
    let wanted = all_ids(dataset.clone().batches(9).threads(1));
    for threads in [2, 7, 64] {
        assert_eq!(all_ids(dataset.clone().batches(9).threads(threads)), wanted);
    }
    // Frozen: the first batch of this seed on every machine and in every release of this order.
    let order = tfrmap::Order::shuffled(400, 3, 0);
    assert_eq!(wanted[0], (0..9).map(|position| order.at(position) as i64).collect::<Vec<_>>());
}

#[test]
fn the_rest_is_kept_dropped_or_filled_up() {
    let ten = open_case("S02_ten");
    let lens = |remainder| {
        all_ids(ten.clone().batches(4).remainder(remainder)).iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(lens(Remainder::Keep), [4, 4, 2]);
    assert_eq!(lens(Remainder::Drop), [4, 4]);
    assert_eq!(lens(Remainder::Pad), [4, 4, 4]);
    let last = ten.clone().batches(4).remainder(Remainder::Pad).last().unwrap().unwrap();
    assert_eq!((ids(&last), last.valid()), (vec![8, 9, 0, 1], &[true, true, false, false][..]));
    assert_eq!(all_ids(ten.clone().batches(11).remainder(Remainder::Drop)).len(), 0);
    assert_eq!(all_ids(ten.clone().batches(1 << 40)).concat().len(), 10);
    let error = ten.clone().batches(0).next().unwrap().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::InvalidArgument);
    let error = ten.clone().batches(1 << 50).remainder(Remainder::Pad).next().unwrap().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn ranks_must_say_what_happens_at_the_end() {
    let three = open_case("S03_three");
    let unsaid = three.clone().for_rank(0, 8).unwrap().batches(1).next().unwrap().unwrap_err();
    assert_eq!(*unsaid.kind(), ErrorKind::InvalidArgument);
    assert!(three.clone().for_rank(8, 8).is_err());
    assert!(three.clone().for_rank(0, 0).is_err());
    let padded: Vec<_> = (0..8)
        .map(|rank| {
            let share = three.clone().for_rank(rank, 8).unwrap().batches(2).remainder(Remainder::Pad);
            share.map(Result::unwrap).collect::<Vec<_>>()
        })
        .collect();
    assert!(padded.iter().all(|batches| batches.len() == 1 && batches[0].len() == 2));
    let valid: Vec<i64> = padded
        .iter()
        .flatten()
        .flat_map(|batch| ids(batch).into_iter().zip(batch.valid().to_vec()))
        .filter_map(|(id, valid)| valid.then_some(id))
        .collect();
    assert_eq!(sorted(valid), [0, 1, 2]);
}

#[test]
fn verbs_apply_left_to_right_and_keep_random_access() {
    let dataset = open_case("S01_sorted");
    let first = |dataset: &Dataset, n: usize| all_ids(dataset.clone().batches(n)).concat();
    let shuffled_then_taken = dataset.clone().shuffled(5).take(30);
    assert_eq!(first(&shuffled_then_taken, 8), first(&dataset.clone().shuffled(5), 400)[..30]);
    assert!(first(&dataset.clone().take(30).shuffled(5), 8).iter().all(|id| *id < 30));
    let rest = dataset.clone().shuffled(5).skip(30);
    assert_eq!((rest.len(), first(&rest, 8).len()), (370, 370));
    assert_eq!(dataset.clone().take(1000).len(), 400);
    assert!(dataset.clone().skip(1000).is_empty());

    let picked = dataset.clone().select([399, 0, 0, 17]).unwrap();
    assert_eq!(first(&picked, 3), [399, 0, 0, 17]);
    assert!(dataset.clone().select([400]).is_err());
    for position in 0..4 {
        let record = picked.get(position).unwrap();
        assert_eq!(record.index(), picked.record_number(position).unwrap() % 40);
    }
    assert!(picked.get(4).is_err());

    let with_ten = picked.concat(open_case("S02_ten"));
    let batch = with_ten.clone().batches(20).next().unwrap().unwrap();
    assert_eq!(batch.indices(), [399, 0, 0, 17, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409]);
    let sources: Vec<_> = batch.sources().map(|source| (source.shard, source.record)).collect();
    assert_eq!(sources[..5], [(9, 39), (0, 0), (0, 0), (0, 17), (10, 0)]);
    assert_eq!(with_ten.shards().len(), 11);
    let halves = dataset.clone().skip(200).concat(dataset.clone().take(200));
    assert_eq!((halves.shards().len(), halves.get(0).unwrap().index()), (10, 0));
    assert_eq!(halves.record_number(0).unwrap(), 200);
}
