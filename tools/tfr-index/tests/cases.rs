//! Fear: a situation that users of other tools reported goes wrong here too.
//!
//! The files are those of `tests/data/cases` of the library; TFRMAP_CASES may name a larger collection.

mod common;

use std::path::{Path, PathBuf};

use common::World;
use serde_json::{Value, json};

fn cases() -> PathBuf {
    match std::env::var_os("TFRMAP_CASES") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cases"),
    }
}

fn world_of(folder: &str) -> World {
    let world = World::new();
    world.copy_tree(&cases().join(folder), folder);
    world
}

/// What the manifest says of files in `fmt`.
fn manifest() -> Vec<Value> {
    let read = |name: &str| std::fs::read_to_string(cases().join(name));
    let text = read("manifest.json").or_else(|_| read("store.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    all.into_iter()
        .filter(|case| case["file"].as_str().is_some_and(|file| file.starts_with("fmt/")))
        .filter(|case| cases().join(case["file"].as_str().unwrap()).exists())
        .collect()
}

#[test]
fn every_framing_case_is_verified_as_its_manifest_says() {
    let world = world_of("fmt");
    let manifest = manifest();
    assert!(manifest.len() >= 20, "only {} cases", manifest.len());
    for case in manifest {
        let (file, expect) = (case["file"].as_str().unwrap(), &case["expect"]);
        let run = world.tfr(&format!("verify --json {file}"));
        let lines = run.json();
        let summary = lines.last().unwrap();
        assert_eq!(
            summary["records"].as_u64().unwrap(),
            summary["good"].as_u64().unwrap() + summary["bad"].as_u64().unwrap()
        );
        // A compressed file is named as such; what is in it is for `copy` to find.
        let compressed = lines[0]["kind"] == "Compressed";
        if let Some(good) = expect["good_records"].as_u64().filter(|_| !compressed) {
            assert_eq!(summary["good"], good, "{file}");
        }
        let Some(error) = expect["error"].as_str() else {
            continue;
        };
        assert_eq!(run.code, 1, "{file}");
        let kind = lines[0]["kind"].as_str().unwrap();
        assert!(error.contains(kind) || compressed, "{file}: {kind} for {error}");
        for place in ["record", "offset"] {
            if let Some(expected) = expect[place].as_u64() {
                assert_eq!(lines[0][place], expected, "{file}: {place}");
            }
        }
        let text = world.tfr(&format!("verify {file}")).exits(1).out;
        assert!(text.starts_with(&format!("{file}: ")), "{file}: {text}");
    }
}

#[test]
fn f01_to_f09_sound_files_are_read_whole() {
    let world = world_of("fmt");
    for (file, records) in [
        ("fmt/F01_control.tfrecord", 3),
        ("fmt/F02_zero_length.tfrecord", 4),
        ("fmt/F02b_only_empty_records.tfrecord", 3),
        ("fmt/F03_empty.tfrecord", 0),
        ("fmt/F09_two_files_concatenated.tfrecord", 6),
        ("fmt/F12f_plain_under_gz_name.tfrecord.gz", 3),
        ("fmt/F13a_plain_starts_78_01.tfrecord", 2),
        ("fmt/events.out.tfevents.1700000000.host", 5),
    ] {
        assert_eq!(world.tfr(&format!("build --json {file}")).exits(0).last()["records"], records, "{file}");
        assert_eq!(world.tfr(&format!("info --json {file}")).exits(0).last()["records"], records, "{file}");
        assert_eq!(world.tfr(&format!("verify --json {file}")).exits(0).last()["good"], records, "{file}");
        world.tfr(&format!("copy {file} --out copy --force")).exits(0);
        assert_eq!(world.read("copy"), world.read(file), "{file}: a copy is not the same bytes");
    }
    assert_eq!(world.tfr("get fmt/F01_control.tfrecord 1 --raw").exits(0).out, "bravo-bravo");
}

#[test]
fn f05_f10_repair_keeps_what_is_whole() {
    let world = world_of("fmt");
    for (file, kept, lost) in [
        ("F05a_truncated.tfrecord", 2, 1),
        ("F05e_truncated.tfrecord", 2, 1),
        ("F06a_flip_length.tfrecord", 2, 1),
        ("F06c_flip_length_crc.tfrecord", 2, 1),
        ("F06d_flip_data.tfrecord", 2, 1),
        ("F08a_trailing_zeros.tfrecord", 3, 1),
        ("F10a_resync_after_bad_length.tfrecord", 19, 1),
        ("F12e_gzip_truncated.tfrecord.gz", 14, 1),
    ] {
        let run = world.tfr(&format!("copy --json --skip-bad fmt/{file} --out {file}.good")).exits(0);
        assert_eq!(run.last(), json!({ "written": kept, "skipped": lost }), "{file}");
        assert_eq!(run.json().len(), 1 + lost, "{file}: each loss has its line");
        assert_eq!(world.tfr(&format!("verify --json {file}.good")).exits(0).last()["good"], kept, "{file}");
    }
    let run =
        world.tfr("copy --json --skip-bad fmt/F10a_resync_after_bad_length.tfrecord --out again").exits(0);
    assert!(run.out.contains("36 bytes"), "{}", run.out);
}

#[test]
fn f12_compressed_sets_are_copied_whole() {
    let world = world_of("fmt");
    let control = world.payloads("fmt/F01_control.tfrecord");
    for file in
        ["F12a_gzip_under_plain_name.tfrecord", "F12b_zlib.tfrecord.zz", "F12c_gzip_multi_member.tfrecord.gz"]
    {
        world.tfr(&format!("copy fmt/{file} --out plain --force")).exits(0);
        assert_eq!(world.payloads("plain"), control, "{file}");
    }
    let run = world.tfr("copy fmt/F12h_zstd_magic.tfrecord.zst --out zstd").exits(1);
    assert!(run.err.contains("zstd") && !run.err.contains("corrupt"), "{}", run.err);
}

#[test]
fn f14_events_are_named() {
    let world = world_of("fmt");
    let events = "fmt/events.out.tfevents.1700000000.host";
    assert_eq!(world.tfr(&format!("schema --json {events}")).exits(0).last()["payload"], "Event");
    assert!(world.tfr(&format!("schema {events}")).exits(0).out.contains("TensorBoard events"));
    world.tfr(&format!("get --json {events} 0")).exits(0);
}

#[test]
fn t01_t06_sets_are_found_among_strays() {
    for (folder, records) in [("T01_stray", 12), ("T06_spark", 8)] {
        let world = world_of(&format!("dirs/{folder}"));
        let info = world.tfr(&format!("info --json dirs/{folder}")).exits(0).last();
        assert_eq!(info["records"], records, "{folder}");
        world.tfr(&format!("build dirs/{folder}")).exits(0);
        // What was written beside the data does not disturb it.
        world.tfr(&format!("export dirs/{folder} --format dali")).exits(0);
        world.tfr(&format!("export dirs/{folder} --format tfindex")).exits(0);
        world.tfr(&format!("export dirs/{folder} --format csv")).exits(0);
        assert_eq!(
            world.tfr(&format!("info --json dirs/{folder}")).exits(0).last()["records"],
            records,
            "{folder}"
        );
    }
}

#[test]
fn t02_a_missing_shard_is_named_unless_allowed() {
    let world = world_of("dirs/T02_missing_shard");
    for command in [
        "info",
        "build",
        "verify",
        "copy --out x",
        "schema",
        "preview --out x",
        "batch --out x --batch-size 1",
    ] {
        let run = world.tfr(&format!("{command} dirs/T02_missing_shard")).exits(1);
        assert!(run.err.contains("train-00002-of-00004"), "{command}: {}", run.err);
        assert!(!world.exists("x"));
    }
    world.tfr("info dirs/T02_missing_shard --allow-missing-shards").exits(0);
    world.tfr("copy dirs/T02_missing_shard --allow-missing-shards --out x").exits(0);
}

#[test]
fn t04_a_set_is_not_mixed_up_with_its_neighbour() {
    let world = world_of("dirs/T04_prefix");
    let run = world.tfr("info dirs/T04_prefix").exits(1);
    assert!(run.err.contains("foo.tfrecord") && run.err.contains("foo_bar.tfrecord"), "{}", run.err);
    assert_eq!(world.tfr("info --json dirs/T04_prefix/foo.tfrecord-*").exits(0).last()["records"], 4);
}

#[test]
fn t09_names_are_literal() {
    let world = World::new();
    let names =
        ["a b", "what?", "all*", "[0-9]", "{a,b}", "100%20", "#1", "-dash", "--json", "数据", "train-[0-9]*"];
    for (records, name) in names.iter().enumerate() {
        world.tfrecord(format!("odd/{name}"), (0..records as u64 + 1).map(common::numbered));
    }
    let inside = |name: &str, args: &[&str]| {
        let mut command = world.command(args);
        command.arg("--").arg(name).current_dir(world.path("odd"));
        command.output().unwrap()
    };
    for (records, name) in names.iter().enumerate() {
        let output = inside(name, &["build"]);
        assert!(output.status.success(), "{name}: {output:?}");
        assert!(world.exists(format!("odd/.tfrmap/{name}.tfri")), "{name} has no index of its own");
        let output = inside(name, &["info", "--json"]);
        let info: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(info["records"], records + 1, "{name}");
    }
}

#[test]
fn t10_errors_in_a_pipeline() {
    let world = world_of("fmt");
    let bad = "fmt/F05e_truncated.tfrecord fmt/F11a_git_lfs_pointer.tfrecord fmt/F06d_flip_data.tfrecord";
    let run = world.tfr(&format!("verify --json fmt/F01_control.tfrecord {bad}")).exits(1);
    let kinds: Vec<Value> = run.json().iter().filter_map(|line| line.get("kind").cloned()).collect();
    assert_eq!(kinds, ["Truncated", "NotTfrecord", "CorruptData"]);
    assert_eq!(run.last()["good"], 3 + 2 + 2);
    world.tfr("verify --json fmt/F01_control.tfrecord fmt/F09_two_files_concatenated.tfrecord").exits(0);
}
