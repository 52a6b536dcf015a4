//! The fear: a set of tens of thousands of shards runs into the system's limits on descriptors or maps.

mod store_support;

use std::fs;
use std::path::{Path, PathBuf};

use store_support::*;
use tfrmap::{Access, MissingIndex, OpenOptions, Store};

/// Shards with more records than an index held in memory has, so that sidecars have to be opened too.
const RECORDS: usize = 81;

fn make(folder: &Path, shards: usize, records: usize) {
    for shard in 0..shards {
        let payloads: Vec<_> = (0..records).map(|i| format!("{shard} {i}")).collect();
        fs::write(folder.join(format!("x-{shard:05}-of-{shards:05}")), framed(&payloads)).unwrap();
    }
}

/// Not a test of its own: limits are the whole process's.
#[test]
fn child_reads_them_all() {
    let Some(folder) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    let access = if std::env::var_os("TFRMAP_TEST_READ").is_some() { Access::Read } else { Access::Map };
    let files = OpenOptions::new().files(&folder).unwrap();
    let options = OpenOptions::new().access(access).missing_index(MissingIndex::Build);
    let stores = Store::open_all(&options, &files).unwrap();
    let mut records = Vec::new();
    let mut buf = Vec::new();
    for round in 0..2 {
        for (shard, store) in stores.iter().enumerate() {
            let i = (shard as u64 + round) % store.len();
            let record = store.get(i).unwrap();
            assert_eq!(record.as_bytes(), format!("{shard} {i}").as_bytes());
            store.read_into(i, &mut buf).unwrap();
            assert_eq!(buf, record.as_bytes());
            records.push(record);
        }
    }
    // Files that were closed in between have left their records alive.
    assert!(records.iter().all(|record| !record.is_empty()));
    println!("READ {}", records.len());
}

fn run(folder: &Path, variables: &[(&str, &str)]) -> String {
    let script = "ulimit -n 256; exec \"$0\" child_reads_them_all --exact --nocapture";
    let mut command = std::process::Command::new("bash");
    command.args(["-c", script]).arg(std::env::current_exe().unwrap()).env("TFRMAP_TEST_TARGET", folder);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(unix)]
#[test]
fn many_shards_with_few_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let shards = 600;
    make(folder.path(), shards, RECORDS);
    for variables in [&[][..], &[("TFRMAP_TEST_READ", "1")]] {
        assert!(run(folder.path(), variables).contains(&format!("READ {}", 2 * shards)));
    }
}

/// More than the system allows maps (65,530 by default); minutes, so only where it is asked for.
#[cfg(unix)]
#[test]
fn more_shards_than_maps() {
    if std::env::var_os("TFRMAP_STRESS").is_none() {
        eprintln!("SKIPPED: 70,000 shards are opened only where TFRMAP_STRESS is set");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 70_000, 1);
    for variables in [&[][..], &[("TFRMAP_TEST_READ", "1")]] {
        assert!(run(folder.path(), variables).contains("READ 140000"));
    }
}
