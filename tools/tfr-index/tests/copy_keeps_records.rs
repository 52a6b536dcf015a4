//! Fear: a copy loses, changes, repeats or disorders records, or overwrites something.

mod common;

use std::collections::BTreeSet;

use common::{World, frames, gzip, id_of, numbered, png, zlib};
use serde_json::json;
use tfrmap::{Dataset, Order};

/// A set of 5 shards of 7 records with ids in order.
fn set(world: &World) {
    for shard in 0..5u64 {
        world.tfrecord(format!("set/s-{shard:05}-of-00005"), (0..7).map(|i| numbered(shard * 7 + i)));
    }
}

fn ids(world: &World, path: &str) -> Vec<u64> {
    let dataset = Dataset::open(world.path(path)).unwrap();
    (0..dataset.len()).map(|i| id_of(&dataset.get(i).unwrap())).collect()
}

#[test]
fn merging_and_splitting_keep_the_order() {
    let world = World::new();
    set(&world);
    world.tfr("copy set --out all").exits(0);
    assert_eq!(ids(&world, "all"), (0..35).collect::<Vec<_>>());
    for shards in [1, 2, 3, 35, 40] {
        let out = format!("split{shards}/t");
        std::fs::create_dir(world.path(format!("split{shards}"))).unwrap();
        let run = world.tfr(&format!("copy all --out {out} --shards {shards} --json")).exits(0);
        assert_eq!(run.last(), json!({ "written": 35, "skipped": 0 }));
        let data: Vec<_> =
            world.names(format!("split{shards}")).into_iter().filter(|n| !n.starts_with('.')).collect();
        assert_eq!(data.len(), shards);
        if shards > 1 {
            assert_eq!(data[0], format!("t-00000-of-{shards:05}"));
        }
        assert_eq!(ids(&world, &format!("split{shards}")), (0..35).collect::<Vec<_>>(), "{shards}");
        world.tfr(&format!("info split{shards}")).exits(0);
        assert!(!world.tfr(&format!("info split{shards}")).out.contains("missing"), "the copy has no index");
    }
}

#[test]
fn the_seed_gives_the_order_of_the_library() {
    let world = World::new();
    set(&world);
    world.tfr("copy set --out mixed --seed 7 --shards 3").exits(0);
    let order = Order::shuffled(35, 7, 0);
    assert_eq!(ids(&world, "mixed"), (0..35).map(|p| order.at(p)).collect::<Vec<_>>());
    let dataset = Dataset::open(world.path("set")).unwrap().shuffled(7);
    let of_library: Vec<u64> = (0..35).map(|p| id_of(&dataset.get(p).unwrap())).collect();
    assert_eq!(ids(&world, "mixed"), of_library);
}

#[test]
fn filters_choose_and_keep_the_order_of_the_list() {
    let world = World::new();
    set(&world);
    let of = |args: &str, expected: Vec<u64>| {
        world.tfr(&format!("copy set --out f --force {args}")).exits(0);
        assert_eq!(ids(&world, "f"), expected, "{args}");
    };
    of("--range 5..9", (5..9).collect());
    of("--range 30..", (30..35).collect());
    of("--range ..3", (0..3).collect());
    of("--range 3..3", vec![]);
    of("--select 3,1,2", vec![3, 1, 2]);
    of("--select 34,0..3,0", vec![34, 0, 1, 2, 0]);
    world.write("list", "# ids\n5 6\n20..22\n");
    of("--select list", vec![5, 6, 20, 21]);
    world.write("skip.jsonl", "{\"path\":\"set/s-00001-of-00005\",\"record\":0,\"kind\":\"ImageDecode\"}\n34\n{\"records\":35,\"good\":33,\"bad\":2}\n");
    of("--skip skip.jsonl", (0..34).filter(|id| *id != 7).collect());
    of("--skip skip.jsonl --range 6..9", vec![6, 8]);
    let order = Order::shuffled(33, 1, 0);
    let left: Vec<u64> = (0..34).filter(|id| *id != 7).collect();
    of("--skip skip.jsonl --seed 1", (0..33).map(|p| left[order.at(p) as usize]).collect());
    let run = world.tfr("copy set --out f --force --skip skip.jsonl --json").exits(0);
    assert_eq!(run.last(), json!({ "written": 33, "skipped": 2 }));
    assert_eq!(run.json()[0]["kind"], "ImageDecode", "the line of the list comes back");
    world.write("foreign.jsonl", "{\"path\":\"elsewhere\",\"record\":0}\n");
    world.tfr("copy set --out g --skip foreign.jsonl").exits(2);
}

#[test]
fn compressed_sets_are_unpacked_in_order_and_at_random() {
    let world = World::new();
    let payloads = |from: u64, to: u64| frames((from..to).map(numbered));
    world.write("z/a-00000-of-00003", gzip(&payloads(0, 1000)));
    world.write("z/a-00001-of-00003", zlib(&payloads(1000, 1500)));
    world.write("z/a-00002-of-00003", payloads(1500, 1501));
    world.tfr("copy z --out plain").exits(0);
    assert_eq!(ids(&world, "plain"), (0..1501).collect::<Vec<_>>());
    world.tfr("copy z --out split --shards 4").exits(0);
    assert_eq!(ids(&world, "split"), (0..1501).collect::<Vec<_>>());
    let count = Dataset::open(world.path("split-00003-of-00004")).unwrap().len();
    assert!((375..=376).contains(&count), "{count}");
    world.tfr("copy z --out mixed --seed 3").exits(0);
    let order = Order::shuffled(1501, 3, 0);
    assert_eq!(ids(&world, "mixed"), (0..1501).map(|p| order.at(p)).collect::<Vec<_>>());
    world.tfr("copy z --out part --range 990..1010").exits(0);
    assert_eq!(ids(&world, "part"), (990..1010).collect::<Vec<_>>());
    let mut names: Vec<String> = world.names(".");
    names.retain(|name| name.starts_with('.') && name != ".tfrmap");
    assert_eq!(names, Vec::<String>::new(), "something was left behind");
}

#[test]
fn salvage_keeps_every_whole_record_also_when_shuffled() {
    let world = World::new();
    let mut bytes = frames((0..100).map(numbered));
    let frame = |id: usize| frames((0..id as u64).map(numbered)).len();
    bytes[frame(20) + 2] ^= 0x10; // a length
    bytes[frame(50) + 15] ^= 1; // a payload
    bytes.truncate(frame(99) + 7); // a cut
    world.write("torn", &bytes);
    world.tfr("copy torn --out x").exits(1);
    let whole: BTreeSet<u64> = (0..99).filter(|id| ![20, 50].contains(id)).collect();
    for options in ["", "--shards 3", "--seed 5", "--seed 5 --shards 2", "--range 0..100"] {
        let run = world.tfr(&format!("copy torn --out kept --force --skip-bad --json {options}")).exits(0);
        assert_eq!(run.last(), json!({ "written": 97, "skipped": 3 }), "{options}");
        let kinds: Vec<_> =
            run.json()[..3].iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["CorruptLength", "CorruptData", "Truncated"], "{options}");
        let kept = ids(&world, if options.contains("shards") { "kept-*" } else { "kept" });
        assert_eq!(kept.len(), 97, "{options}");
        assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), whole, "{options}");
        for name in world.names(".").iter().filter(|name| name.starts_with("kept")) {
            std::fs::remove_file(world.path(name)).unwrap();
        }
    }
    // The list of verify and --skip-bad agree on numbers, and nothing is counted twice.
    world.tfr("verify torn --list bad.jsonl").exits(1);
    let run = world.tfr("copy torn --out kept --skip-bad --skip bad.jsonl --json").exits(0);
    assert_eq!(run.last()["written"], 97);
}

#[test]
fn nothing_is_overwritten_by_accident_and_no_input_at_all() {
    let world = World::new();
    set(&world);
    world.tfrecord("one", (0..3).map(numbered));
    world.write("theirs", "precious");
    world.write("t-00001-of-00002", "precious too");
    let run = world.tfr("copy one --out theirs").exits(2);
    assert!(run.err.contains("--force"), "{}", run.err);
    world.tfr("copy one --out t --shards 2").exits(2);
    assert!(!world.exists("t-00000-of-00002"), "a part of the set was written");
    world.tfr("copy one --out one").exits(2);
    world.tfr("copy one --out one --force").exits(2);
    world.tfr("copy one --out ./set/../one --force").exits(2);
    world.tfr("copy set --out set/s --shards 5 --force").exits(2);
    world.tfr("copy one --out set --force").exits(2);
    assert_eq!(world.read("theirs"), b"precious");
    world.tfr("copy one --out theirs --force").exits(0);
    assert_eq!(ids(&world, "theirs"), [0, 1, 2]);
    for command in
        ["export one --format dali", "batch one --batch-size 2 --out b.npz", "verify one --list l.jsonl"]
    {
        world.tfr(command).exits(0);
        world.tfr(command).exits(2);
        world.tfr(&format!("{command} --force")).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn an_input_is_known_through_links() {
    let world = World::new();
    world.tfrecord("one", (0..3).map(numbered));
    std::os::unix::fs::symlink("one", world.path("link")).unwrap();
    world.tfr("copy one --out link --force").exits(2);
    world.tfr("copy link --out one --force").exits(2);
    std::fs::hard_link(world.path("one"), world.path("twin")).unwrap();
    world.tfr("copy one --out twin --force").exits(0);
    assert_eq!(ids(&world, "one"), [0, 1, 2], "replacing a second name must not touch the first");
}

#[test]
fn empty_inputs_and_outputs() {
    let world = World::new();
    world.write("empty", "");
    let run = world.tfr("copy empty --out e --json").exits(0);
    assert_eq!(run.last(), json!({ "written": 0, "skipped": 0 }));
    assert_eq!(world.read("e"), b"");
    world.tfr("copy empty --out f --shards 3 --seed 1").exits(0);
    assert_eq!(world.read("f-00002-of-00003"), b"");
    world.tfrecord("zeros", ["", "", ""]);
    world.tfr("copy zeros --out z --seed 1").exits(0);
    assert_eq!(world.payloads("z"), vec![Vec::<u8>::new(); 3]);
}

#[cfg(unix)]
#[test]
fn no_output_of_any_command_takes_the_place_of_an_input() {
    let world = World::new();
    let data = world.write("data", frames((0..3).map(numbered)));
    world.write("data.idx", frames((3..6).map(numbered)));
    std::os::unix::fs::symlink(&data, world.path("link")).unwrap();
    let before = (world.read("data"), world.read("data.idx"));
    for command in [
        "batch data --batch-size 2 --out data",
        "batch link --batch-size 2 --out data",
        "batch data --batch-size 2 --out ./link",
        "preview data --out data",
        "verify data --list data",
        "copy link --out data",
        "export data data.idx --format dali",
    ] {
        let run = world.tfr(&format!("{command} --force")).exits(2);
        assert!(run.err.contains("this is an input"), "{command}: {}", run.err);
    }
    assert_eq!((world.read("data"), world.read("data.idx")), before);
}

#[test]
fn a_picture_that_is_packed_is_not_written_over() {
    let world = World::new();
    let picture = png(8, 8, [1, 2, 3]);
    world.write("photos/cat/a.png", &picture);
    world.tfr("pack photos --out photos/cat/a.png --force").exits(2);
    assert_eq!(world.read("photos/cat/a.png"), picture);
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_is_not_replaced_by_a_file() {
    use std::os::unix::fs::FileTypeExt;
    let world = World::new();
    world.write("data", frames((0..3).map(numbered)));
    world.shell("mkfifo pipe; ln -s pipe link").exits(0);
    for command in [
        "batch data --batch-size 2 --out",
        "copy data --out",
        "preview data --out",
        "verify data --list",
        "pack . --out",
    ] {
        for output in ["pipe", "link"] {
            let run = world.tfr(&format!("{command} {output} --force")).exits(2);
            assert!(run.err.contains("a device or a pipe"), "{command}: {}", run.err);
        }
    }
    assert!(world.path("pipe").metadata().unwrap().file_type().is_fifo());
    assert!(world.path("link").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn what_follows_damage_in_a_compressed_file_is_not_said_to_be_searched() {
    let world = World::new();
    let mut bytes = frames((0..5).map(numbered));
    let second = frames(std::iter::once(numbered(0))).len();
    bytes[second] ^= 1;
    world.write("data.gz", gzip(&bytes));
    let run = world.tfr("copy data.gz --out out").exits(1);
    assert!(run.err.contains("decompress the file to look for those after it"), "{}", run.err);
    let run = world.tfr("copy data.gz --out out --skip-bad --json").exits(0);
    let lines = run.json();
    assert!(lines[0]["message"].as_str().unwrap().contains("what follows is left out"), "{}", lines[0]);
    assert_eq!(lines[1]["written"], 1);
    world.write("data", &bytes);
    assert_eq!(world.tfr("copy data --out all --skip-bad --json").exits(0).last()["written"], 4);
}

#[test]
fn a_list_that_names_no_record_is_not_passed_over_in_silence() {
    let world = World::new();
    world.tfrecord("data", (0..5).map(numbered));
    for line in [
        r#"{"path":"data","record":1.0}"#,
        r#"{"path":"data","record":"1"}"#,
        r#"{"path":"data","record":-1}"#,
        r#"{"record":1}"#,
        r#"{"path":"data","record":5}"#,
        "5",
        "-1",
    ] {
        world.write("list.jsonl", line);
        world.tfr("copy data --out out --skip list.jsonl").exits(2);
        world.tfr("export data --format dali --skip list.jsonl").exits(2);
    }
    let twice =
        "{\"path\":\"data\",\"record\":1,\"kind\":\"MalformedProto\"}\n{\"path\":\"data\",\"record\":1}\n";
    world.write("list.jsonl", twice);
    let run = world.tfr("copy data --out out --skip list.jsonl --json").exits(0);
    assert_eq!(run.last(), json!({ "written": 4, "skipped": 1 }));
}

#[test]
fn the_way_out_that_verify_prints_works() {
    let world = World::new();
    let whole = frames((0..5).map(numbered));
    let first = frames([numbered(0)]).len();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (fault, bytes, kept) in [
        ("payload", flipped(first + 14), 4),
        ("length", flipped(first), 4),
        ("cut", whole[..whole.len() - 3].to_vec(), 4),
        ("zeros", [&whole[..], &[0; 64]].concat(), 5),
    ] {
        world.write("data", bytes);
        let said = world.tfr("verify data --list bad.jsonl --force").exits(1).out;
        let command = said.rsplit('`').nth(1).unwrap().replace("PATH", "data").replace("NEW", "new");
        let run = world.shell(&format!("{command} --force --json")).exits(0);
        assert_eq!(run.last(), json!({ "written": kept, "skipped": 1 }), "{fault}: {command}");
    }
    world.write("data", "<html>not found</html>");
    let said = world.tfr("verify data").exits(1).out;
    assert!(!said.contains("to leave them out"), "{said}");
}
