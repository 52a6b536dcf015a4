//! The fear: a set is opened with a shard too few, with files that are none of it, or in another order elsewhere.

mod store_support;

use std::fs;
use std::path::{Path, PathBuf};

use store_support::*;
use tempfile::TempDir;
use tfrmap::{Error, ErrorKind, MissingIndex, OpenOptions, Store};

fn files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
    OpenOptions::new().files(path)
}

/// The names of the files that a path means.
fn names(path: impl AsRef<Path>) -> Vec<String> {
    let files = files(path.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_string()).collect()
}

fn records(path: impl AsRef<Path>) -> u64 {
    let options = OpenOptions::new().missing_index(MissingIndex::InMemory);
    let stores = Store::open_all(&options, &files(path).unwrap()).unwrap();
    stores.iter().map(Store::len).sum()
}

/// A folder with files of these names, one record each.
fn folder_with(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, framed(&[name])).unwrap();
    }
    folder
}

#[test]
fn strays_break_nothing() {
    assert_eq!(records(case("dirs/T01_stray")), 12);
    assert_eq!(records(case("dirs/T01_stray").join("train-*")), 12);
    assert_eq!(records(case("dirs/T06_spark")), 8);
    assert_eq!(names(case("dirs/T06_spark")), ["part-r-00000", "part-r-00001", "part-r-00002"]);
    let strays = [
        "_SUCCESS",
        "_metadata",
        ".hidden",
        "a.crc",
        "a.index",
        "a.idx",
        "a.tfindex",
        "a.txt",
        "a.json",
        "README",
        "README.md",
        "a.tmp",
        "a.tfrecord.tmp",
        "a.tfrecord.crc",
        "a~",
        "sub/_temporary/x",
        ".tfrmap/a.tfri",
        "LICENSE",
    ];
    let data = ["a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"];
    let folder = folder_with(&[&strays[..], &data[..]].concat());
    assert_eq!(names(&folder), data);
    assert_eq!(names(folder.path().join("*")), data);
    // Who asks for just those gets them.
    assert_eq!(
        names(folder.path().join("a.t*")),
        ["a.tfindex", "a.tfrecord.crc", "a.tfrecord.tmp", "a.tmp", "a.txt"]
    );
    assert_eq!(names(folder.path().join("a.idx")), ["a.idx"]);
}

#[test]
fn files_of_other_names_are_left_to_those_that_are_known() {
    let folder = folder_with(&["train_0.tfrecord", "train_1.tfrecord", "vocabulary", "stats.bin"]);
    assert_eq!(names(&folder), ["train_0.tfrecord", "train_1.tfrecord"]);
    let folder = folder_with(&["data0", "data1"]);
    assert_eq!(names(&folder), ["data0", "data1"]);
}

#[test]
fn a_missing_shard_is_named() {
    let folder = case("dirs/T02_missing_shard");
    for path in
        [folder.clone(), folder.join("train-*"), folder.join("train-*-of-00004"), folder.join("train")]
    {
        let error = files(&path).unwrap_err();
        let expected = ErrorKind::MissingShard { names: vec!["train-00002-of-00004".into()] };
        assert_eq!(error.kind(), &expected, "{error}");
        assert!(error.to_string().contains("train-00002-of-00004"));
        assert_eq!(OpenOptions::new().allow_missing_shards(true).files(&path).unwrap().len(), 3);
    }
    // A file is a file, and a pattern that means some shards only means them.
    assert_eq!(names(folder.join("train-00003-of-00004")).len(), 1);
    assert_eq!(names(folder.join("train-0000[013]-of-00004")).len(), 3);
    assert!(files(folder.join("train-0000[1-3]-of-00004")).is_err());
    // All of them, where it is the last.
    let folder = folder_with(&["x-00000-of-00002"]);
    assert_eq!(class(&files(&folder).unwrap_err()), "MissingShard");
    // A set that says it has a million files does not make a message of a million names.
    let folder = folder_with(&["x-0000000-of-1000000"]);
    assert!(files(&folder).unwrap_err().to_string().len() < 1000);
}

#[test]
fn two_sets_in_one_folder_are_listed() {
    let folder = case("dirs/T04_prefix");
    let error = files(&folder).unwrap_err();
    assert_eq!(class(&error), "ShardSetConflict");
    let text = error.to_string();
    assert!(
        text.contains("foo.tfrecord-*-of-00001") && text.contains("foo_bar.tfrecord-*-of-00001"),
        "{text}"
    );
    for path in ["foo", "foo.tfrecord", "foo.tfrecord-*", "foo.*", "foo.tfrecord-*-of-00001"] {
        assert_eq!(names(folder.join(path)), ["foo.tfrecord-00000-of-00001"], "{path}");
        assert_eq!(records(folder.join(path)), 4);
    }
    for names in
        [["train.tfrecord", "test.tfrecord"], ["a.tfrecord", "a.tfrecord.gz"], ["train_1.tfr", "val_1.tfr"]]
    {
        let folder = folder_with(&names);
        assert_eq!(class(&files(&folder).unwrap_err()), "ShardSetConflict", "{names:?}");
        assert_eq!(files(folder.path().join("*")).unwrap().len(), 2);
    }
}

#[test]
fn two_generations_are_a_conflict() {
    let folder = folder_with(&["x-00000-of-00002", "x-00001-of-00002", "x-00000-of-00001"]);
    for path in [folder.path().to_path_buf(), folder.path().join("x-*"), folder.path().join("x")] {
        let error = files(&path).unwrap_err();
        assert_eq!(class(&error), "ShardSetConflict");
        let text = error.to_string();
        assert!(text.contains("x-*-of-00001") && text.contains("x-*-of-00002"), "{text}");
    }
    assert_eq!(files(folder.path().join("x-*-of-00002")).unwrap().len(), 2);
    // Sets of other prefixes may have other counts.
    let folder = folder_with(&["x-00000-of-00001", "y-00000-of-00002", "y-00001-of-00002"]);
    assert_eq!(names(folder.path().join("{x,y}-*")).len(), 3);
}

#[test]
fn the_order_is_natural() {
    let folder = folder_with(&["s-10", "s-9", "s-009", "s-1", "s-100", "t-2"]);
    assert_eq!(names(folder.path().join("*")), ["s-1", "s-009", "s-9", "s-10", "s-100", "t-2"]);
    let folder = folder_with(&["d10/x", "d9/x"]);
    let found = files(folder.path().join("d*/x")).unwrap();
    assert!(found[0].ends_with("d9/x") && found[1].ends_with("d10/x"));
}

#[cfg(unix)]
#[test]
fn links_to_one_file_count_once() {
    let folder = folder_with(&["a/x-1", "a/x-2"]);
    for (name, to) in [("x-1", "a/x-1"), ("x-2", "a/x-2"), ("x-3", "a/x-2")] {
        std::os::unix::fs::symlink(folder.path().join(to), folder.path().join(name)).unwrap();
    }
    fs::hard_link(folder.path().join("a/x-1"), folder.path().join("x-4")).unwrap();
    assert_eq!(names(folder.path().join("x-*")), ["x-1", "x-2"]);
    // One index for all ways to a file, beside the file itself.
    Store::open(folder.path().join("x-2")).unwrap();
    assert!(sidecar(&folder.path().join("a/x-2")).is_file());
    assert!(!folder.path().join(".tfrmap").exists());
    let store =
        Store::open_with(&OpenOptions::new().missing_index(MissingIndex::Fail), folder.path().join("x-3"));
    assert_eq!(store.unwrap().len(), 1);
}

#[test]
fn nothing_there_is_named() {
    let folder = folder_with(&["_SUCCESS", "sub/x"]);
    for path in [
        folder.path().join("missing"),
        folder.path().join("missing-*"),
        folder.path().join("missing/x-*"),
        folder.path().join("sub/x/y"),
        folder.path().to_path_buf(),
    ] {
        let error = files(&path).unwrap_err();
        let absent = [std::io::ErrorKind::NotFound, std::io::ErrorKind::NotADirectory];
        assert!(absent.map(ErrorKind::Io).contains(error.kind()), "{error}");
        assert!(error.path().is_some());
    }
}

#[test]
fn many_files_are_opened_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..100 {
        fs::write(folder.path().join(format!("x-{i:05}-of-00100")), framed(&payloads(i))).unwrap();
    }
    let options = OpenOptions::new();
    let stores = Store::open_all(&options, &files(&folder).unwrap()).unwrap();
    assert_eq!(stores.iter().map(Store::len).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    // The first fault in order is told, whichever is met first.
    for i in [60, 61, 99] {
        fs::write(folder.path().join(format!("x-{i:05}-of-00100")), b"no record at all").unwrap();
        let _ = fs::remove_file(sidecar(&folder.path().join(format!("x-{i:05}-of-00100"))));
    }
    let error = Store::open_all(&options, &files(&folder).unwrap()).unwrap_err();
    assert!(error.path().unwrap().ends_with("x-00060-of-00100"), "{error}");
    assert!(Store::open_all(&options, &[]).unwrap().is_empty());
}
