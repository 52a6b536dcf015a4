//! The fear: the index lands where it cannot be found again, or cannot be written and takes the reader down with it.

mod store_support;

use std::fs;
use std::path::{Path, PathBuf};

use store_support::*;
use tfrmap::{BuildStatus, Index, IndexBuilder, IndexState, MissingIndex, OpenOptions, Store};

fn data_in(folder: &Path) -> PathBuf {
    let path = folder.join("data");
    fs::write(&path, framed(&payloads(100))).unwrap();
    path
}

#[test]
fn a_folder_that_is_given() {
    let (folder, indexes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, deep) = (data_in(folder.path()), indexes.path().join("deep/er"));
    let options = OpenOptions::new().index_dir(&deep);
    assert_eq!(Store::open_with(&options, &path).unwrap().len(), 100);
    assert!(deep.join("data.tfri").is_file());
    assert!(!folder.path().join(".tfrmap").exists());
    assert_eq!(Index::sidecar_path(&path, Some(&deep)), deep.join("data.tfri"));
    assert_eq!(IndexState::of(&path, Some(&deep)).unwrap().name(), "fresh");
    assert_eq!(IndexState::of(&path, None).unwrap().name(), "missing");
    let only = options.missing_index(MissingIndex::Fail);
    assert_eq!(read_all(&Store::open_with(&only, &path).unwrap()).unwrap(), payloads(100));
    let report = &IndexBuilder::new().index_dir(&deep).build(std::slice::from_ref(&path), |_| {})[0];
    assert_eq!(report.status, BuildStatus::Fresh);
    // The index of another file of the same name is not taken for this one's.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("data"), framed(&payloads(50))).unwrap();
    assert!(Store::open_with(&only, other.join("data")).unwrap_err().is_stale_index());
}

/// Not a test of its own: the environment is the whole process's.
#[test]
fn child_opens() {
    let Some(path) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    for _ in 0..3 {
        assert_eq!(read_all(&Store::open(&path).unwrap()).unwrap(), payloads(100));
    }
    println!("STATE {}", IndexState::of(&path, None).unwrap().name());
    let report = &IndexBuilder::new().build(&[path], |_| {})[0];
    println!("BUILD {}", report.status.name());
}

fn run(path: &Path, variables: &[(&str, &str)], prelude: &str) -> String {
    let script = format!("{prelude} exec \"$0\" child_opens --exact --nocapture");
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).env("TFRMAP_TEST_TARGET", path);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    told
}

#[test]
fn the_folder_of_the_environment() {
    let (folder, indexes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = data_in(folder.path());
    let told = run(&path, &[("TFRMAP_INDEX_DIR", indexes.path().to_str().unwrap())], "");
    assert!(told.contains("STATE fresh") && told.contains("BUILD fresh"), "{told}");
    assert!(indexes.path().join("data.tfri").is_file());
    assert!(!folder.path().join(".tfrmap").exists());
    // Set to nothing it is not set.
    let told = run(&path, &[("TFRMAP_INDEX_DIR", "")], "");
    assert!(told.contains("STATE fresh"));
    assert!(sidecar(&path).is_file());
}

#[test]
fn where_it_cannot_be_written_it_stays_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = data_in(folder.path());
    // A file where the folder should be holds up root too.
    fs::write(folder.path().join(".tfrmap"), b"in the way").unwrap();
    let told = run(&path, &[], "");
    assert!(told.contains("STATE missing") && told.contains("BUILD failed"), "{told}");
    let found: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(found.len(), 2, "{found:?}");
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_it_stays_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = data_in(folder.path());
    // No file may grow at all: the system refuses the writes that a full disk refuses.
    let told = run(&path, &[], "trap '' XFSZ; ulimit -f 0;");
    assert!(told.contains("STATE missing") && told.contains("BUILD failed"), "{told}");
    let left: Vec<_> = fs::read_dir(folder.path().join(".tfrmap")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_a_sidecar_fail_means_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = data_in(folder.path());
    let error = Store::open_with(&OpenOptions::new().missing_index(MissingIndex::Fail), &path).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("tfr-index build"), "{error}");
    let store = Store::open_with(&OpenOptions::new().missing_index(MissingIndex::InMemory), &path).unwrap();
    assert!(!folder.path().join(".tfrmap").exists());
    // The same data gives the same index, read or built.
    assert_eq!(store.index_checksum(), Store::open(&path).unwrap().index_checksum());
    // An empty file says for itself that it is empty.
    let empty = folder.path().join("empty");
    fs::write(&empty, b"").unwrap();
    let store = Store::open_with(&OpenOptions::new().missing_index(MissingIndex::Fail), &empty).unwrap();
    assert!(store.is_empty() && store.get(0).is_err() && store.verify().is_ok());
}

#[test]
fn one_bad_file_does_not_keep_others_from_being_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for name in ["fmt/F01_control.tfrecord", "fmt/F05e_truncated.tfrecord", "fmt/F02_zero_length.tfrecord"] {
        paths.push(folder.path().join(Path::new(name).file_name().unwrap()));
        fs::write(paths.last().unwrap(), case_bytes(name)).unwrap();
    }
    let reports = IndexBuilder::new().jobs(2).build(&paths, |_| {});
    let found: Vec<_> = reports.iter().map(|report| (report.status.name(), report.records)).collect();
    assert_eq!(found, [("built", 3), ("failed", 2), ("built", 4)]);
    assert_eq!(reports[1].error.as_ref().unwrap().path(), Some(&*paths[1]));
}
