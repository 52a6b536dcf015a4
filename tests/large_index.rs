//! The fear: what works with thousands of records takes memory or time that grows with them, and does not with a hundred million.
#![cfg(unix)]

mod store_support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use store_support::*;
use tfrmap::{Access, Dataset, Index, Store};

const RECORDS: u64 = 100_000_000;
const FRAME: u64 = 100;
/// The records that are really there; all others are holes in sparse files.
const THERE: [u64; 6] = [0, 1, 12_345_678, (1 << 26) - 1, 1 << 26, RECORDS - 1];

fn payload(i: u64) -> Vec<u8> {
    format!("{i:084}").into_bytes()
}

/// A data file of 10 GB and its index of 1.2 GB, both with next to nothing in them.
fn make(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("data");
    let data = File::create(&path).unwrap();
    fs::create_dir(folder.join(".tfrmap")).unwrap();
    let index = File::create(sidecar(&path)).unwrap();
    let crcs_at = 40 + 8 * (RECORDS + 1);
    data.set_len(RECORDS * FRAME).ok()?;
    index.set_len(crcs_at + 4 * RECORDS + 4).ok()?;
    // A header for the count and the length, with the right CRC.
    let mut header = b"\x89TFRI\r\n\n\x01\0\0\0\0\0\0\0".to_vec();
    header.extend_from_slice(&RECORDS.to_le_bytes());
    header.extend_from_slice(&(RECORDS * FRAME).to_le_bytes());
    header.extend_from_slice(&[0; 4]);
    header.extend_from_slice(&crc32c::crc32c(&header).to_le_bytes());
    index.write_all_at(&header, 0).unwrap();
    for i in THERE {
        let frame = framed(&[payload(i)]);
        assert_eq!(frame.len() as u64, FRAME);
        data.write_all_at(&frame, i * FRAME).unwrap();
        index.write_all_at(&(i * FRAME).to_le_bytes(), 40 + 8 * i).unwrap();
        index.write_all_at(&((i + 1) * FRAME).to_le_bytes(), 48 + 8 * i).unwrap();
        index.write_all_at(&frame[frame.len() - 4..], crcs_at + 4 * i).unwrap();
    }
    Some(path)
}

/// Bytes of memory that are really in use.
#[cfg(target_os = "linux")]
fn resident_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_million_records_cost_no_more_than_a_few() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = make(folder.path()) else {
        eprintln!("SKIPPED: no sparse files of 10 GB here");
        return;
    };
    let before = resident_mb();
    for access in [Access::Map, Access::Read] {
        let store = Store::open_with(&only_sidecar(access), &path).unwrap();
        assert_eq!(store.len(), RECORDS);
        let mut buf = Vec::new();
        for i in THERE {
            let record = store.get(i).unwrap();
            assert_eq!((record.as_bytes(), record.offset()), (&payload(i)[..], i * FRAME));
            store.read_into(i, &mut buf).unwrap();
            assert_eq!(buf, payload(i));
        }
        // What the index does not hold is its fault, and no record.
        assert_eq!(class(&store.get(77).unwrap_err()), "IndexCorrupt");
        assert!(store.get(RECORDS).is_err());
    }
    let index = Index::open(&path).unwrap();
    assert_eq!(index.get(THERE[3]).unwrap().offset, THERE[3] * FRAME);
    let dataset = Dataset::open_with(&only_sidecar(Access::Map), [&path]).unwrap().shuffled(7);
    let mut numbers: Vec<u64> =
        (0..100_000).map(|position| dataset.record_number(position).unwrap()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert!(numbers.len() == 100_000 && numbers[99_999] < RECORDS && numbers[99_999] > RECORDS / 2);
    let state = dataset.clone().batches(100).state();
    assert!(dataset.batches(100).resume(&state).is_ok());
    assert!(resident_mb() < before + 20, "{} MB after {before} MB", resident_mb());
}
