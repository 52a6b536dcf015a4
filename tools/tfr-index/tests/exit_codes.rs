//! Fear: a script believes that all is well, or blames the data for a slip of the finger.

mod common;

use common::{World, frames, gzip, numbered};

/// Three records, of which each damage below spoils one.
fn three() -> Vec<u8> {
    frames(["alpha", "bravo-bravo", "charlie"])
}

fn flipped(at: usize) -> Vec<u8> {
    let mut bytes = three();
    bytes[at] ^= 4;
    bytes
}

#[test]
fn sound_files_exit_0_and_damaged_ones_1() {
    let world = World::new();
    let whole = three();
    let mut zeros = whole.clone();
    zeros.extend([0; 64]);
    let mut huge = frames(["alpha"]);
    huge.extend(&frames([""])[..0]);
    let len = ((1u64 << 62) + 3).to_le_bytes();
    huge.extend(len);
    huge.extend(crc32c::crc32c(&len).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    type Place = (&'static str, u64, u64);
    let cases: [(&str, Vec<u8>, Option<Place>); 11] = [
        ("whole", whole.clone(), None),
        ("empty", Vec::new(), None),
        ("zero_lengths", frames(["", "", ""]), None),
        ("cut_length", whole[..51].to_vec(), Some(("Truncated", 2, 48))),
        ("cut_data", whole[..64].to_vec(), Some(("Truncated", 2, 48))),
        ("bad_length", flipped(21), Some(("CorruptLength", 1, 21))),
        ("bad_length_crc", flipped(30), Some(("CorruptLength", 1, 21))),
        ("bad_data", flipped(36), Some(("CorruptData", 1, 21))),
        ("bad_crc", flipped(45), Some(("CorruptData", 1, 21))),
        ("trailing_zeros", zeros, Some(("TrailingBytes", 3, 71))),
        ("huge", huge, Some(("LengthPastEnd", 1, 21))),
    ];
    for (name, bytes, problem) in cases {
        world.write(name, bytes);
        let run = world.tfr(&format!("verify --json {name}"));
        let Some((kind, record, offset)) = problem else {
            run.exits(0);
            continue;
        };
        let run = run.exits(1);
        let line = &run.json()[0];
        assert_eq!(line["kind"], kind, "{name}");
        assert_eq!(
            (line["record"].as_u64(), line["offset"].as_u64()),
            (Some(record), Some(offset)),
            "{name}"
        );
        assert_eq!(line["path"], name);
        assert_eq!(run.last()["bad"], 1);
        // Headers alone tell everything but damaged payloads.
        let seen = kind != "CorruptData";
        let build = world.tfr(&format!("build {name}")).exits(i32::from(seen));
        if seen {
            assert!(
                build.err.contains(&format!("{name}: record {record} at byte {offset}: ")),
                "{}",
                build.err
            );
        }
        world.tfr(&format!("build --force --check {name}")).exits(1);
        world.tfr(&format!("copy {name} --out {name}.copy")).exits(1);
        assert!(!world.exists(format!("{name}.copy")), "{name}: half a copy was left");
    }
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let world = World::new();
    world.write("packed", gzip(&three()));
    world.write("pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n");
    world.write("archive", b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    for (name, kind, word) in [
        ("packed", "Compressed", "gzip"),
        ("pointer", "NotTfrecord", "LFS"),
        ("archive", "NotTfrecord", "zip"),
    ] {
        for command in ["build", "info", "verify"] {
            let run = world.tfr(&format!("{command} --json {name}")).exits(1);
            let all = run.out.clone() + &run.err;
            assert!(all.contains(kind) && all.contains(word), "{command} {name}: {all}");
        }
        for command in
            [format!("get {name} 0"), format!("schema {name}"), format!("preview {name} --out s.png")]
        {
            let run = world.tfr(&command).exits(1);
            assert!(run.err.contains(word), "{command}: {}", run.err);
        }
    }
    let run = world.tfr("build packed").exits(1);
    assert!(run.err.contains("tfr-index copy"), "the way out is missing: {}", run.err);
}

#[test]
fn one_bad_file_among_good_ones_is_named_and_the_others_are_indexed() {
    let world = World::new();
    world.tfrecord("set/train-00000-of-00003", (0..5).map(numbered));
    world.write("set/train-00001-of-00003", &frames((0..5).map(numbered))[..100]);
    world.tfrecord("set/train-00002-of-00003", (0..5).map(numbered));
    let run = world.tfr("build --json set").exits(1);
    let status: Vec<_> = run.json().iter().map(|line| line["status"].as_str().unwrap().to_owned()).collect();
    assert_eq!(status, ["built", "failed", "built"]);
    assert!(run.err.contains("train-00001-of-00003"));
    assert!(world.exists("set/.tfrmap/train-00002-of-00003.tfri"));
    assert!(!world.exists("set/.tfrmap/train-00001-of-00003.tfri"));
    let info = world.tfr("info --json set").exits(1).last();
    assert_eq!(info["records"], 10);
    assert_eq!(info["shards"][1]["kind"], "Truncated");
}

#[test]
fn slips_of_the_finger_exit_2() {
    let world = World::new();
    world.tfrecord("data", (0..5).map(numbered));
    world.write("spec.json", "{\"id\": {\"fixed_len\": {\"dtype\": \"int65\"}}}");
    world.write("not.json", "{");
    for line in [
        "",
        "nonsense",
        "build",
        "build nothing-here",
        "info nothing-here",
        "verify nothing-here",
        "copy nothing-here --out x",
        "get data 5",
        "get data -- -1",
        "get data x",
        "copy data",
        "copy data --out x --shards 0",
        "copy data --out x --range 3",
        "copy data --out x --range 0..9",
        "copy data --out x --select 9",
        "copy data --out x --skip nothing-here",
        "copy data --out no/such/folder/x",
        "batch data --out b.npz --batch-size 0",
        "batch data --out b.npz --batch-size 2 --skip-batches 3",
        "batch data --out b.npz --batch-size 2 --spec spec.json",
        "batch data --out b.npz --batch-size 2 --spec not.json",
        "batch data --out b.npz --batch-size 2 --spec nothing-here",
        "export data --format nonsense",
        "export data --format tfindex --seed 1",
        "preview data --out s.png --count 0",
        "pack nothing-here --out x",
        "pack . --out x --labels nothing-here",
        "schema data --spec klingon",
    ] {
        let run = world.tfr(line).exits(2);
        assert!(!run.err.is_empty(), "{line:?} says nothing");
        assert!(!world.exists("x") && !world.exists("b.npz") && !world.exists("s.png"), "{line:?}");
    }
}

#[test]
fn help_and_version_exit_0_and_show_examples() {
    let world = World::new();
    world.tfr("--version").exits(0);
    let help = world.tfr("--help").exits(0).out;
    for command in [
        "build",
        "info",
        "schema",
        "preview",
        "get",
        "verify",
        "batch",
        "export",
        "copy",
        "pack",
        "completions",
    ] {
        assert!(help.contains(command), "{command} is not in --help");
        let text = world.tfr(&format!("{command} --help")).exits(0).out;
        assert!(text.contains("Examples:\n  tfr-index "), "{command} --help has no examples");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(world.tfr(&format!("completions {shell}")).exits(0).out.contains("preview"), "{shell}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_an_error_at_once() {
    let world = World::new();
    assert!(std::process::Command::new("mkfifo").arg(world.path("fifo")).status().unwrap().success());
    std::os::unix::fs::symlink("nowhere", world.path("dangling")).unwrap();
    std::fs::create_dir(world.path("folder")).unwrap();
    for name in ["fifo", "/dev/null", "dangling", "folder"] {
        for command in [
            format!("build {name}"),
            format!("verify {name}"),
            format!("info {name}"),
            format!("get {name} 0"),
        ] {
            let run = world.tfr(&command).exits(2);
            assert!(run.err.contains(name), "{command}: {}", run.err);
        }
    }
}

#[test]
fn a_stale_or_damaged_index_is_told_and_build_repairs_it() {
    let world = World::new();
    world.tfrecord("data", (0..5).map(numbered));
    world.tfr("build data").exits(0);
    world.tfrecord("data", (0..7).map(numbered));
    let info = world.tfr("info --json data").exits(1).last();
    assert_eq!((&info["shards"][0]["index"], &info["records"]), (&"stale".into(), &7.into()));
    let verify = world.tfr("verify --json data").exits(1);
    assert_eq!(verify.json()[0]["kind"], "StaleIndex");
    assert_eq!(verify.last()["good"], 7);
    world.tfr("get data 0").exits(1);
    assert_eq!(world.tfr("build --json data").exits(0).last()["status"], "extended");
    world.tfr("get data 6").exits(0);

    let sidecar = ".tfrmap/data.tfri";
    world.write(sidecar, &world.read(sidecar)[..20]);
    assert_eq!(world.tfr("info --json data").exits(1).last()["shards"][0]["index"], "corrupt");
    assert_eq!(world.tfr("build --json data").exits(0).last()["status"], "rebuilt");
    let mut bytes = world.read(sidecar);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    world.write(sidecar, bytes);
    assert_eq!(world.tfr("verify --json data").exits(1).json()[0]["kind"], "IndexCorrupt");
    world.tfr("build --force data").exits(0);
    world.tfr("verify data").exits(0);
}

#[test]
fn files_of_one_name_do_not_write_over_each_others_index() {
    let world = World::new();
    world.write("a/part-0", three());
    world.write("b/part-0", three());
    let run = world.tfr("build a/part-0 b/part-0 --index-dir ix").exits(2);
    assert!(run.err.contains("would share one index"), "{}", run.err);
    assert!(!world.exists("ix"));
    // The same file twice is one index, and beside the data each has its own.
    world.tfr("build a/part-0 a/part-0 --index-dir ix").exits(0);
    world.tfr("build a/part-0 b/part-0").exits(0);
}
