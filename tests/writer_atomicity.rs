//! The fear: a writer that is dropped, killed or out of space leaves half a file under a good name.

mod store_support;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use store_support::*;
use tfrmap::{Access, DatasetWriter, ErrorKind, Store};

const TARGET: &str = "TFRMAP_TEST_TARGET";

/// What is in a folder, hidden files too.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn dropped_it_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut writer = DatasetWriter::create(&path).unwrap();
    writer.write(&vec![1; 1 << 20]).unwrap();
    assert!(!path.exists());
    drop(writer);
    let mut writer = DatasetWriter::create_sharded(&path, 100).unwrap();
    writer.write(b"one").unwrap();
    drop(writer);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn finished_it_is_whole_and_indexed() {
    let folder = tempfile::tempdir().unwrap();
    for n in [0, 1, 500] {
        let payloads = payloads(n);
        let path = folder.path().join(format!("data{n}"));
        let mut writer = DatasetWriter::create(&path).unwrap();
        payloads.iter().for_each(|payload| writer.write(payload).unwrap());
        writer.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), framed(&payloads));
        let written = fs::read(sidecar(&path)).unwrap();
        let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
        assert_eq!(read_all(&store).unwrap(), payloads);
        // It is the index that a scan gives.
        fs::remove_file(sidecar(&path)).unwrap();
        tfrmap::IndexBuilder::new().build(std::slice::from_ref(&path), |_| {});
        assert_eq!(fs::read(sidecar(&path)).unwrap(), written);
    }
}

#[test]
fn shards_have_their_names() {
    for (records, shards) in [(0, 4), (1, 4), (10, 4), (100, 70)] {
        let folder = tempfile::tempdir().unwrap();
        let payloads = payloads(records);
        let mut writer = DatasetWriter::create_sharded(folder.path().join("train"), shards).unwrap();
        payloads.iter().for_each(|payload| writer.write(payload).unwrap());
        writer.finish().unwrap();
        let mut found: Vec<Vec<u8>> = Vec::new();
        for shard in 0..shards {
            let path = folder.path().join(format!("train-{shard:05}-of-{shards:05}"));
            let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
            found.extend(read_all(&store).unwrap());
        }
        found.sort();
        let mut expected = payloads.clone();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(names(folder.path()).len(), shards + 1);
    }
    assert!(DatasetWriter::create_sharded("train", 0).is_err());
}

#[test]
fn what_exists_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, b"mine").unwrap();
    assert_eq!(class(&DatasetWriter::create(&path).unwrap_err()), "AlreadyExists");
    fs::write(folder.path().join("set-00002-of-00004"), b"mine").unwrap();
    let error = DatasetWriter::create_sharded(folder.path().join("set"), 4).unwrap_err();
    assert_eq!(class(&error), "AlreadyExists");
    assert!(error.path().unwrap().ends_with("set-00002-of-00004"));
    assert_eq!(names(folder.path()), ["data", "set-00002-of-00004"]);

    // Made by somebody else in the meantime.
    let late = folder.path().join("late");
    let mut writer = DatasetWriter::create(&late).unwrap();
    writer.write(b"ours").unwrap();
    fs::write(&late, b"theirs").unwrap();
    assert_eq!(class(&writer.finish().unwrap_err()), "AlreadyExists");
    assert_eq!(fs::read(&late).unwrap(), b"theirs");
}

#[test]
fn overwriting_is_by_rename_and_renews_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, framed(&payloads(300))).unwrap();
    let reader = Store::open(&path).unwrap();
    reader.get(0).unwrap();
    let mut writer = DatasetWriter::overwrite(&path).unwrap();
    writer.write(b"new").unwrap();
    assert_eq!(reader.len(), 300);
    writer.finish().unwrap();
    // Who has the old file open keeps it.
    assert_eq!(read_all(&reader).unwrap(), payloads(300));
    let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
    assert_eq!(read_all(&store).unwrap(), [b"new"]);
}

#[cfg(unix)]
#[test]
fn overwriting_does_not_replace_a_device_by_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    let error = DatasetWriter::overwrite(&path).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::InvalidArgument);
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert_eq!(names(folder.path()), ["data"]);
}

#[test]
fn appending_checks_the_tail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, case_bytes("fmt/F01_control.tfrecord")).unwrap();
    let reader = Store::open(&path).unwrap();
    reader.get(0).unwrap();
    let mut writer = DatasetWriter::append(&path).unwrap();
    assert_eq!(writer.records(), 3);
    writer.write(b"delta").unwrap();
    writer.finish().unwrap();
    let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
    assert_eq!(read_all(&store).unwrap()[2..], [b"charliecharliecharlie".to_vec(), b"delta".to_vec()]);
    assert_eq!(read_all(&reader).unwrap().len(), 3);
    for torn in
        ["fmt/F05e_truncated.tfrecord", "fmt/F05a_truncated.tfrecord", "fmt/F08a_trailing_zeros.tfrecord"]
    {
        let bytes = case_bytes(torn);
        fs::write(&path, &bytes).unwrap();
        let error = DatasetWriter::append(&path).unwrap_err();
        assert!(["Truncated", "TrailingBytes"].contains(&class(&error)), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

/// Not a test of its own: writes and replaces until it is killed.
#[test]
fn child_writes_again_and_again() {
    let Some(folder) = std::env::var_os(TARGET).map(PathBuf::from) else { return };
    println!("READY");
    for round in 0.. {
        let mut writer = DatasetWriter::overwrite(folder.join("data")).unwrap();
        for i in 0..2000_u32 {
            writer.write(&vec![(i + round) as u8; 300]).unwrap();
        }
        writer.finish().unwrap();
        let mut writer = DatasetWriter::append(folder.join("grows")).unwrap();
        (0..100).for_each(|_| writer.write(&[7; 100]).unwrap());
        writer.finish().unwrap();
    }
}

#[test]
fn killed_it_leaves_no_half_file() {
    let (mut written, mut without_index) = (0, 0);
    for round in 0..rounds(10) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("grows"), framed(&[[7; 100]])).unwrap();
        let target = folder.path().to_str().unwrap();
        let mut child = again("child_writes_again_and_again", &[(TARGET, target)]);
        wait_until_ready(&mut child);
        std::thread::park_timeout(Duration::from_micros((round * 7919 % 250_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it may have left, the next writer removes.
        drop(DatasetWriter::create(folder.path().join("next")).unwrap());
        let left = names(folder.path());
        assert!(left.iter().all(|name| ["data", "grows", ".tfrmap"].contains(&name.as_str())), "{left:?}");
        for name in ["data", "grows"] {
            let path = folder.path().join(name);
            if !path.exists() {
                continue;
            }
            written += 1;
            without_index += u64::from(!sidecar(&path).exists());
            // Whole frames, and an index that is right or not there: never one of other data.
            let store = Store::open(&path).unwrap();
            store.verify().unwrap();
            match name {
                "data" => assert_eq!(store.len(), 2000),
                _ => assert_eq!(store.len() % 100, 1),
            }
        }
    }
    println!("{written} files under their names, all whole; {without_index} of them not indexed yet");
}

/// Not a test of its own: writes half a set, and waits to be killed.
#[test]
fn child_writes_half() {
    let Some(folder) = std::env::var_os(TARGET).map(PathBuf::from) else { return };
    let mut writer = DatasetWriter::create_sharded(folder.join("data"), 3).unwrap();
    (0..30).for_each(|_| writer.write(&vec![1; 1 << 20]).unwrap());
    println!("READY");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Files without names are there on the file systems that Linux has for temporary folders.
#[cfg(target_os = "linux")]
#[test]
fn killed_it_leaves_nothing_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_str().unwrap();
    let with_input = |command: &mut std::process::Command| {
        command.stdin(std::process::Stdio::piped());
    };
    let mut child = again_with("child_writes_half", &[(TARGET, target)], with_input);
    wait_until_ready(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

/// Not a test of its own: runs where files can have few blocks only, and reports what it is told.
#[test]
fn child_runs_out_of_space() {
    let Some(folder) = std::env::var_os(TARGET).map(PathBuf::from) else { return };
    let mut writer = DatasetWriter::create(folder.join("data")).unwrap();
    let written = (0..100).try_for_each(|_| writer.write(&[1; 100_000]));
    let error = written.and_then(|()| writer.finish().map(drop)).unwrap_err();
    println!("TOLD {} {}", class(&error), error.is_io());
}

#[cfg(unix)]
#[test]
fn out_of_space_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    // The limit on a file's size stands in for a full disk: the system refuses the same writes.
    let script = "trap '' XFSZ; ulimit -f 2000; exec \"$0\" child_runs_out_of_space --exact --nocapture";
    let output = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(program)
        .env(TARGET, folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("TOLD Io true"), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(folder.path()), Vec::<String>::new());
}
