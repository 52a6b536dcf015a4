//! The fear: what is whole in a damaged file is lost, or what is no record is taken for one.

mod store_support;

use std::fs;

use store_support::*;
use tfrmap::{Salvage, Salvaged};

/// What is found: payloads of records, lost ranges, payloads of unproven frames.
#[derive(Debug, Default, PartialEq)]
struct Found {
    records: Vec<Vec<u8>>,
    lost: Vec<(u64, u64, &'static str)>,
    unproven: Vec<Vec<u8>>,
}

fn salvage(bytes: &[u8]) -> Found {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let reader = Salvage::open(file.path()).unwrap();
    let mut found = Found::default();
    let mut covered = 0;
    for part in Salvage::open(file.path()).unwrap() {
        let mut payload = Vec::new();
        match part.unwrap() {
            Salvaged::Record(span) => {
                assert_eq!(span.offset, covered);
                covered += span.payload_len + 16;
                reader.read_into(span, &mut payload).unwrap();
                found.records.push(payload);
            }
            Salvaged::Lost { range, error } => {
                assert_eq!(range.start, covered);
                covered = range.end;
                assert_eq!(error.offset(), Some(range.start));
                found.lost.push((range.start, range.end, class(&error)));
            }
            Salvaged::Unproven(span) => {
                reader.read_into(span, &mut payload).unwrap();
                found.unproven.push(payload);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(covered, bytes.len() as u64, "records and lost ranges cover the file");
    found
}

fn offset(payloads: &[Vec<u8>], record: usize) -> usize {
    framed(&payloads[..record]).len()
}

#[test]
fn whole_files_are_kept_whole() {
    for n in [0, 1, 100] {
        let payloads = payloads(n);
        assert_eq!(salvage(&framed(&payloads)), Found { records: payloads, ..Found::default() });
    }
}

#[test]
fn damage_in_several_places_costs_a_record_each() {
    let mut payloads: Vec<Vec<u8>> = (0..60_u8).map(|i| vec![i; 100 + usize::from(i)]).collect();
    let mut bytes = framed(&payloads);
    let places = [(5, 3), (7, 11), (20, 40), (33, 0), (59, 9)];
    for (record, byte) in places {
        bytes[offset(&payloads, record) + byte] ^= 0x5a;
    }
    let lost: Vec<_> = places
        .iter()
        .map(|(record, byte)| {
            let class = if *byte < 12 { "CorruptLength" } else { "CorruptData" };
            (offset(&payloads, *record) as u64, offset(&payloads, record + 1) as u64, class)
        })
        .collect();
    for (record, _) in places.iter().rev() {
        payloads.remove(*record);
    }
    let found = salvage(&bytes);
    assert_eq!(found.lost, lost);
    assert!(found.records == payloads && found.unproven.is_empty());
}

#[test]
fn a_sector_that_is_gone_costs_what_was_in_it() {
    let payloads: Vec<Vec<u8>> = (0..100_u8).map(|i| vec![i | 1; 90 + usize::from(i % 7)]).collect();
    let mut bytes = framed(&payloads);
    let (from, to) = (2048, 2048 + 512);
    bytes[from..to].fill(0);
    let found = salvage(&bytes);
    let whole = |record: usize| offset(&payloads, record + 1) <= from || offset(&payloads, record) >= to;
    let expected: Vec<_> =
        (0..100).filter(|record| whole(*record)).map(|record| payloads[record].clone()).collect();
    assert_eq!(found.records, expected);
    assert!(found.unproven.is_empty());
}

#[test]
fn a_torn_tail_and_a_lost_beginning() {
    let payloads = payloads(30);
    let bytes = framed(&payloads);
    let cut = offset(&payloads, 29) + 14;
    let found = salvage(&bytes[..cut]);
    assert_eq!(found.records, payloads[..29]);
    assert_eq!(found.lost, [(offset(&payloads, 29) as u64, cut as u64, "Truncated")]);
    // The file begins inside of a record.
    let found = salvage(&bytes[offset(&payloads, 9) + 3..]);
    assert_eq!(found.records, payloads[10..]);
    assert_eq!(found.lost.len(), 1);
    // Zeros in front, behind, and between two files.
    let found = salvage(&[&[0; 4096][..], &bytes, &[0; 100]].concat());
    assert_eq!(found.records, payloads);
    assert_eq!((found.lost.len(), found.lost[1].2), (2, "TrailingBytes"));
    let found = salvage(&[&bytes[..], &[0; 700], &bytes].concat());
    assert_eq!(found.records.len(), 60);
}

type Payloads = Vec<Vec<u8>>;

/// A file of which one record holds a file of records: its bytes, its payloads, the inner ones, the holder's offset.
fn with_inner() -> (Vec<u8>, Payloads, Payloads, usize) {
    let inner: Vec<Vec<u8>> = (0..8_u8).map(|i| vec![b'i', i, i, i]).collect();
    let mut payloads: Vec<Vec<u8>> = (0..6_u8).map(|i| vec![b'o', i]).collect();
    payloads[3] = [b"before".to_vec(), framed(&inner), b"after".to_vec()].concat();
    let at = offset(&payloads, 3);
    (framed(&payloads), payloads, inner, at)
}

#[test]
fn frames_inside_of_a_broken_payload_are_unproven() {
    let (mut bytes, mut payloads, inner, at) = with_inner();
    assert_eq!(salvage(&bytes).records, payloads);
    bytes[at + 13] ^= 1;
    payloads.remove(3);
    let found = salvage(&bytes);
    assert_eq!((found.records, found.unproven), (payloads, inner));
}

#[test]
fn frames_inside_of_a_record_with_a_broken_length_are_unproven() {
    // One bit, its CRC, several bits, all of it.
    for damage in [vec![0], vec![9], vec![0, 1, 2, 3], (0..12).collect::<Vec<_>>()] {
        let (mut bytes, mut payloads, inner, at) = with_inner();
        for byte in &damage {
            bytes[at + byte] ^= 0x04;
        }
        payloads.remove(3);
        let found = salvage(&bytes);
        assert_eq!((found.records, found.unproven), (payloads, inner), "{damage:?}");
        assert_eq!(found.lost.len(), 1);
    }
}

#[test]
fn random_damage_never_gives_a_record_that_was_not_there() {
    let payloads = payloads(40);
    let whole = framed(&payloads);
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..rounds(300) {
        let mut bytes = whole.clone();
        for _ in 0..1 + random(4) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] ^= 1 << random(8),
                1 => drop(bytes.drain(at..(at + 1 + random(50)).min(whole.len()).min(at + 1))),
                _ => bytes.insert(at, random(256) as u8),
            }
        }
        let found = salvage(&bytes);
        // In order, each of them one that was written.
        let mut rest = payloads.iter();
        for record in &found.records {
            assert!(rest.any(|payload| payload == record));
        }
        assert!(found.records.len() + 10 > payloads.len(), "{} records", found.records.len());
    }
}

#[test]
fn what_is_something_else_is_an_error() {
    for name in ["fmt/F11a_git_lfs_pointer.tfrecord", "fmt/F12a_gzip_under_plain_name.tfrecord"] {
        let error = Salvage::open(case(name)).err().unwrap();
        assert!(["NotTfrecord", "Compressed"].contains(&class(&error)), "{error}");
    }
}
