//! The fear: processes that open a set at once, or die while they index it, leave a torn index or scan it all.

mod store_support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use store_support::*;
use tfrmap::{Access, IndexBuilder, Store};

const TARGET: &str = "TFRMAP_TEST_TARGET";

fn make(folder: &Path, records: usize) -> Vec<std::path::PathBuf> {
    let payloads = payloads(records);
    (0..3)
        .map(|shard| {
            let path = folder.join(format!("train-{shard:05}-of-00003"));
            fs::write(&path, framed(&payloads[shard..])).unwrap();
            path
        })
        .collect()
}

/// Names of what is in the index folder.
fn left(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.join(".tfrmap"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Not a test of its own: what the other processes do.
#[test]
fn child_opens_the_set() {
    let Some(folder) = std::env::var_os(TARGET) else { return };
    for shard in 0..3 {
        let path = Path::new(&folder).join(format!("train-{shard:05}-of-00003"));
        Store::open(&path).unwrap().verify().unwrap();
    }
}

/// Not a test of its own: what a process does that is killed meanwhile.
#[test]
fn child_indexes_again_and_again() {
    let Some(folder) = std::env::var_os(TARGET) else { return };
    let paths: Vec<_> =
        (0..3).map(|shard| Path::new(&folder).join(format!("train-{shard:05}-of-00003"))).collect();
    println!("READY");
    loop {
        for report in IndexBuilder::new().force(true).build(&paths, |_| {}) {
            assert!(report.error.is_none(), "{report:?}");
        }
    }
}

#[test]
fn eight_processes_end_with_one_good_index() {
    for _ in 0..rounds(3) {
        let folder = tempfile::tempdir().unwrap();
        let paths = make(folder.path(), 3000);
        let target = folder.path().to_str().unwrap();
        let children: Vec<_> = (0..8).map(|_| again("child_opens_the_set", &[(TARGET, target)])).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        let expected: Vec<_> = (0..3).map(|shard| format!("train-{shard:05}-of-00003.tfri")).collect();
        assert_eq!(left(folder.path()), expected);
        for path in paths {
            Store::open_with(&only_sidecar(Access::Auto), path).unwrap().verify().unwrap();
        }
    }
}

#[test]
fn those_who_wait_do_not_scan() {
    // The sidecar's inode tells: had two built it, the second would have replaced it.
    let folder = tempfile::tempdir().unwrap();
    let paths = make(folder.path(), 3000);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = paths[0].clone();
            std::thread::spawn(move || {
                let store = Store::open(&path).unwrap();
                store.verify().unwrap();
                inode(&sidecar(&path))
            })
        })
        .collect();
    let inodes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(inodes.windows(2).all(|pair| pair[0] == pair[1]), "{inodes:?}");
}

#[cfg(unix)]
fn inode(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap())
}

#[cfg(not(unix))]
fn inode(_path: &Path) -> u64 {
    0
}

#[test]
fn killed_builders_leave_none_or_a_whole_index() {
    let (mut whole, mut none) = (0, 0);
    for round in 0..rounds(6) {
        let folder = tempfile::tempdir().unwrap();
        let paths = make(folder.path(), 2000);
        let target = folder.path().to_str().unwrap();
        let mut children: Vec<_> =
            (0..8).map(|_| again("child_indexes_again_and_again", &[(TARGET, target)])).collect();
        // All are at work before the first is killed; then at times that no two rounds share.
        children.iter_mut().for_each(wait_until_ready);
        for (number, child) in children.iter_mut().enumerate() {
            std::thread::park_timeout(Duration::from_micros((round * 977 + number * 431) as u64 % 5000));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for path in &paths {
            if sidecar(path).exists() {
                whole += 1;
                Store::open_with(&only_sidecar(Access::Auto), path).unwrap().verify().unwrap();
            } else {
                none += 1;
            }
            // Nobody has to clean up: a lock of the dead holds nobody up, what they left is swept away.
            Store::open(path).unwrap().verify().unwrap();
        }
        IndexBuilder::new().force(true).build(&paths, |_| {});
        assert!(left(folder.path()).iter().all(|name| name.ends_with(".tfri")), "{:?}", left(folder.path()));
    }
    println!("{whole} whole sidecars, {none} none");
}
