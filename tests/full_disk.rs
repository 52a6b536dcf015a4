//! The fear: a disk that really is full leaves half a file under a good name, an error without a reason, or a reader that gives up.
//!
//! Needs the right to mount a small file system of its own; elsewhere the limit on a file's size stands in for it
//! (`writer_atomicity.rs`, `index_places.rs`).
#![cfg(target_os = "linux")]

mod store_support;

use std::fs;
use std::path::{Path, PathBuf};

use store_support::*;
use tfrmap::{DatasetWriter, IndexBuilder, Store};

fn fill(folder: &Path) {
    // Until not a byte more fits.
    for size in [65_536, 4096, 1] {
        for i in 0.. {
            if fs::write(folder.join(format!("filler-{size}-{i}")), vec![1; size]).is_err() {
                break;
            }
        }
    }
}

fn free(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.file_name().unwrap().to_string_lossy().starts_with("filler") {
            fs::remove_file(entry).unwrap();
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| !name.starts_with("filler"));
    names.sort();
    names
}

/// Not a test of its own: runs on a small file system.
#[test]
fn child_on_a_small_disk() {
    let Some(folder) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    let full = |error: tfrmap::Error| {
        assert_eq!(*error.kind(), tfrmap::ErrorKind::Io(std::io::ErrorKind::StorageFull), "{error}");
    };
    // A set that does not fit.
    let mut writer = DatasetWriter::create_sharded(folder.join("set"), 3).unwrap();
    let written = (0..100).try_for_each(|_| writer.write(&[7; 30_000]));
    full(written.and_then(|()| writer.finish().map(drop)).unwrap_err());
    assert_eq!(names(&folder), Vec::<String>::new());
    // Data that fits, with an index that does not: it is read all the same.
    let path = folder.join("data");
    fs::write(&path, framed(&payloads(500))).unwrap();
    fs::create_dir_all(folder.join(".tfrmap")).unwrap();
    fill(&folder);
    assert_eq!(read_all(&Store::open(&path).unwrap()).unwrap(), payloads(500));
    let report = IndexBuilder::new().build(std::slice::from_ref(&path), |_| {}).remove(0);
    full(report.error.unwrap());
    assert_eq!(names(&folder.join(".tfrmap")), Vec::<String>::new());
    // Appending fails, and the file is as it was.
    let appended = DatasetWriter::append(&path).and_then(|mut writer| {
        (0..100).try_for_each(|_| writer.write(&[7; 30_000]))?;
        writer.finish().map(drop)
    });
    full(appended.unwrap_err());
    let kept = fs::read(&path).unwrap();
    // With room again all goes on.
    free(&folder);
    assert_eq!(kept, framed(&payloads(500)));
    assert_eq!(IndexBuilder::new().build(std::slice::from_ref(&path), |_| {})[0].status.name(), "built");
    println!("TOLD all");
}

#[test]
fn a_full_disk_is_an_error_that_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=600k none \"$0\" || exit 77; \
                  exec \"$1\" child_on_a_small_disk --exact --nocapture";
    let output = std::process::Command::new("unshare")
        .args(["-m", "bash", "-c", script])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .env("TFRMAP_TEST_TARGET", folder.path())
        .output();
    let output = match output {
        Ok(output) if output.status.success() || output.status.code() == Some(101) => output,
        _ => {
            eprintln!("SKIPPED: no file system can be mounted here");
            return;
        }
    };
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("TOLD all"), "{told}{}", String::from_utf8_lossy(&output.stderr));
}
