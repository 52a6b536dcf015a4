//! Fear: `| head` shows a panic, or a full disk goes unnoticed.
#![cfg(unix)]

mod common;

use common::{World, numbered};

#[test]
fn a_reader_that_goes_away_is_no_error_and_no_noise() {
    let world = World::new();
    for i in 0..300 {
        world.tfrecord(format!("s-{i:05}-of-00300"), (0..200).map(numbered));
    }
    for command in ["build --json s-*", "info s-*", "info --json s-*", "verify s-*", "schema s-*", "--help"] {
        let command = command.replace("s-*", "'s-*'");
        let run =
            world.shell(&format!("(tfr-index {command}; echo \"exit $?\" >&2) | head -c 10 > /dev/null"));
        assert_eq!(run.err, "exit 0\n", "{command}");
    }
    // The work is done all the same.
    assert_eq!(world.names(".tfrmap").len(), 300);
}

#[test]
fn a_full_disk_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full here");
        return;
    }
    let world = World::new();
    world.tfrecord("data", (0..5).map(numbered));
    for command in
        ["get data 0", "get --raw data 0", "info data", "info --json data", "schema data", "completions zsh"]
    {
        let run = world.shell(&format!("tfr-index {command} > /dev/full; echo \"exit $?\"")).exits(0);
        assert_eq!(run.out, "exit 2\n", "{command}");
        assert!(run.err.contains("standard output"), "{command}: {}", run.err);
    }
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let world = World::new();
    world.tfrecord("data", (0..20_000).map(numbered));
    // A limit on the size of files stands for a full disk; the signal that comes with it is ignored.
    for command in [
        "copy data --out copy",
        "copy data --out copy --seed 1 --shards 2",
        "batch data --out b.npz --batch-size 20000",
        "export data --format csv",
    ] {
        let run = world.shell(&format!("trap '' XFSZ; ulimit -f 64; tfr-index {command}; echo \"exit $?\""));
        assert_eq!(run.out, "exit 2\n", "{command}: {}", run.err);
        assert!(run.err.contains("error: "), "{command}: {}", run.err);
    }
    let mut names = world.names(".");
    names.retain(|name| name != ".tfrmap");
    assert_eq!(names, ["data"]);
}

#[test]
fn no_colours_and_no_bars_without_a_terminal() {
    let world = World::new();
    world.tfrecord("data", (0..1000).map(numbered));
    for command in
        ["build data", "info data", "verify data", "schema data", "get data 3", "copy data --out c"]
    {
        let run = world.tfr(command).exits(0);
        assert!(!run.out.contains('\x1b') && run.err.is_empty(), "{command}: {:?} {:?}", run.out, run.err);
    }
}

#[test]
fn memory_does_not_grow_with_a_claim() {
    let world = World::new();
    let mut bytes = common::frames(["x"]);
    let len = (1u64 << 40).to_le_bytes();
    bytes.extend(len);
    bytes.extend(crc32c::crc32c(&len).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    world.write("huge", &bytes);
    world.write("huge.gz", common::gzip(&bytes));
    for command in
        ["verify huge", "copy huge --out c", "copy huge.gz --out c", "copy huge.gz --out c --shards 2"]
    {
        let run = world.shell(&format!("ulimit -v 4000000; tfr-index {command}")).exits(1);
        assert!(run.err.contains("record 1") || run.out.contains("record 1"), "{command}: {}", run.err);
    }
}
