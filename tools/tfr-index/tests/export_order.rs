//! Fear: another tool reads other records, or another order, than the index promises.

mod common;

use common::{World, frames, id_of, numbered};
use serde_json::json;
use tfrmap::Dataset;

/// The ids at the offsets of an index, read as DALI does.
fn ids(world: &World, data: &str, index: &str) -> Vec<u64> {
    let (data, index) = (world.read(data), String::from_utf8(world.read(index)).unwrap());
    let record = |line: &str| {
        let (offset, size) = line.split_once(' ').unwrap();
        let (offset, size): (usize, usize) = (offset.parse().unwrap(), size.parse().unwrap());
        id_of(&data[offset + 12..offset + size - 4])
    };
    index.lines().map(record).collect()
}

#[test]
fn the_text_is_that_of_tfrecord2idx() {
    let world = World::new();
    let payloads: Vec<Vec<u8>> = (0..3).map(numbered).collect();
    world.tfrecord("a.tfrecord", &payloads);
    let run = world.tfr("export a.tfrecord --format dali --json").exits(0);
    assert_eq!(run.last(), json!({ "path": "a.tfrecord", "out": "a.tfrecord.idx", "records": 3 }));
    let size = payloads[0].len() + 16;
    let expected = format!("0 {size}\n{size} {size}\n{} {size}\n", 2 * size);
    assert_eq!(String::from_utf8(world.read("a.tfrecord.idx")).unwrap(), expected);
    world.tfr("export a.tfrecord --format tfindex").exits(0);
    assert_eq!(String::from_utf8(world.read("a.tfindex")).unwrap(), expected);
    world.tfr("export a.tfrecord --format csv --out-dir tables").exits(0);
    let table = String::from_utf8(world.read("tables/a.tfrecord.csv")).unwrap();
    let payload = payloads[0].len();
    assert!(table.starts_with(&format!(
        "record,offset,size,payload_offset,payload_length\n0,0,{size},12,{payload}\n"
    )));
}

#[test]
fn a_seed_gives_the_order_of_the_library() {
    let world = World::new();
    world.tfrecord("a", (0..200).map(numbered));
    world.tfr("export a --format dali --seed 7 --epoch 3").exits(0);
    let dataset = Dataset::open(world.path("a")).unwrap().shuffled(7).epoch(3);
    let expected: Vec<u64> = (0..200).map(|p| id_of(&dataset.get(p).unwrap())).collect();
    assert_eq!(ids(&world, "a", "a.idx"), expected);
    world.tfr("export a --format dali --seed 7 --epoch 4 --force").exits(0);
    assert_ne!(ids(&world, "a", "a.idx"), expected, "each epoch has its own order");
}

#[test]
fn several_files_keep_their_part_of_the_global_order() {
    let world = World::new();
    for shard in 0..3u64 {
        world.tfrecord(format!("d/s-{shard:05}-of-00003"), (0..50).map(|i| numbered(shard * 50 + i)));
    }
    let run = world.tfr("export d --format dali --out-dir idx --seed 1 --range 10..140").exits(0);
    assert!(run.err.contains("file by file"), "{}", run.err);
    let parts: Vec<u64> = (0..3)
        .flat_map(|s| ids(&world, &format!("d/s-{s:05}-of-00003"), &format!("idx/s-{s:05}-of-00003.idx")))
        .collect();
    let dataset = Dataset::open(world.path("d")).unwrap().skip(10).take(130).shuffled(1);
    let global: Vec<u64> = (0..130).map(|p| id_of(&dataset.get(p).unwrap())).collect();
    let expected: Vec<u64> = (0..3u64)
        .flat_map(|s| global.iter().copied().filter(move |id| id / 50 == s).collect::<Vec<_>>())
        .collect();
    assert_eq!(parts, expected);
}

#[test]
fn filters_leave_records_out() {
    let world = World::new();
    let mut bytes = frames((0..20).map(numbered));
    let at = frames((0..4).map(numbered)).len() + 13;
    bytes[at] ^= 1;
    world.write("a", bytes);
    world.tfr("verify a --list bad.jsonl").exits(1);
    world.tfr("export a --format dali --skip bad.jsonl").exits(0);
    assert_eq!(ids(&world, "a", "a.idx"), (0..20).filter(|id| *id != 4).collect::<Vec<_>>());
    world.tfr("export a --format dali --select 9,3 --force").exits(0);
    assert_eq!(ids(&world, "a", "a.idx"), [9, 3]);
}

#[test]
fn names_do_not_collide_and_short_indexes_are_warned_of() {
    let world = World::new();
    world.tfrecord("x/a", (0..3).map(numbered));
    world.tfrecord("y/a", (0..3).map(numbered));
    let run = world.tfr("export x/a y/a --format dali --out-dir idx").exits(2);
    assert!(run.err.contains("same name"), "{}", run.err);
    world.tfr("export x/a y/a --format dali").exits(0);
    world.tfrecord("one.tfrecord-00000-of-00001", [numbered(0)]);
    let run = world.tfr("export one.tfrecord-00000-of-00001 --format tfindex").exits(0);
    assert!(run.err.contains("fewer than 2"), "{}", run.err);
    assert!(world.exists("one.tfrecord-00000-of-00001.tfindex"));
}
