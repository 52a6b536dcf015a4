//! The fear: a length above 2 or 4 GiB is cut to 31 or 32 bits somewhere.
#![cfg(target_pointer_width = "64")]

mod store_support;

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use store_support::*;
use tfrmap::{Access, FileVerifier, Index, IndexBuilder, RecordReader, Store};

const SMALL: u64 = 16 + 5;

/// `alpha`, a record of `len` zero bytes that are never written, `bravo`.
fn sparse(path: &Path, len: u64) {
    let small = |payload: &str| framed(&[payload]);
    let mut file = File::create(path).unwrap();
    file.write_all(&small("alpha")).unwrap();
    let header = len.to_le_bytes();
    file.write_all(&header).unwrap();
    file.write_all(&masked(crc_of(&header)).to_le_bytes()).unwrap();
    file.seek(SeekFrom::Current(len as i64)).unwrap();
    file.write_all(&masked(crc_of_zeros(len)).to_le_bytes()).unwrap();
    file.write_all(&small("bravo")).unwrap();
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

fn step(crc: u32) -> u32 {
    if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 }
}

fn crc_of(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

/// The CRC of so many zero bytes: a zero byte is a linear map of the register, so it is raised to the power by squaring.
fn crc_of_zeros(mut len: u64) -> u32 {
    let apply =
        |map: &[u32; 32], x: u32| (0..32).filter(|bit| x >> bit & 1 == 1).fold(0, |all, bit| all ^ map[bit]);
    let mut map: [u32; 32] = std::array::from_fn(|bit| (0..8).fold(1 << bit, |crc, _| step(crc)));
    let mut register = !0;
    while len > 0 {
        if len & 1 == 1 {
            register = apply(&map, register);
        }
        map = std::array::from_fn(|bit| apply(&map, map[bit]));
        len >>= 1;
    }
    !register
}

#[test]
fn zeros_have_the_crc_that_we_think() {
    for len in [0, 1, 7, 1000] {
        assert_eq!(crc_of_zeros(len), crc_of(&vec![0; len as usize]));
    }
}

#[test]
fn records_above_two_and_four_gib() {
    for len in [2_147_483_656, (4 << 30) + 300_000_000] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        sparse(&path, len);
        let report = &IndexBuilder::new().build(std::slice::from_ref(&path), |_| {})[0];
        assert!(report.error.is_none() && report.records == 3, "{report:?}");
        let index = Index::open(&path).unwrap();
        assert_eq!(index.get(1).unwrap().payload_len, len);
        assert_eq!(index.get(2).unwrap().offset, SMALL + 16 + len);
        for access in [Access::Map, Access::Read] {
            let store = Store::open_with(&only_sidecar(access), &path).unwrap();
            assert_eq!(store.get(0).unwrap().as_bytes(), b"alpha");
            assert_eq!(store.get(2).unwrap().as_bytes(), b"bravo");
        }
        // Reading it takes memory or seconds: only where that is asked for.
        if std::env::var_os("TFRMAP_STRESS").is_some() {
            let store = Store::open_with(&only_sidecar(Access::Map), &path).unwrap();
            assert_eq!(store.get(1).unwrap().len() as u64, len);
            for access in [Access::Map, Access::Read] {
                let summary = FileVerifier::new().access(access).verify(&path, |_| {}).unwrap();
                assert_eq!((summary.good, summary.bad), (3, 0));
            }
            let lens: Vec<_> =
                RecordReader::open(&path).unwrap().map(|record| record.unwrap().len() as u64).collect();
            assert_eq!(lens, [5, len, 5]);
            let store = Store::open_with(&only_sidecar(Access::Read), &path).unwrap();
            assert_eq!(store.get(1).unwrap().len() as u64, len);
        }
        fs::remove_file(&path).unwrap();
    }
}
