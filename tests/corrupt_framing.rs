//! The fear: damage in a file is read over, or named wrongly, or takes good records with it.

mod store_support;

use serde_json::Value;
use store_support::*;
use tfrmap::{
    Access, Error, ErrorKind, FileVerifier, FramePart, RecordReader, Salvage, Salvaged, Store, VerifyEvent,
};

/// The cases of the collection that are about the file format.
fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(data("", "cases").join("store.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    all.into_iter().filter(|case| case["file"].as_str().unwrap().starts_with("fmt/")).collect()
}

/// Whether an error is of a class and in the place that a case expects.
fn check(file: &str, expect: &Value, error: &Error) {
    let classes = expect["error"].as_str().unwrap();
    let class = class(error);
    assert!(classes.split('|').any(|name| name.split([':', '(']).next() == Some(class)), "{file}: {error:?}");
    if let Some(record) = expect["record"].as_u64() {
        assert_eq!(error.record(), Some(record), "{file}: {error}");
    }
    if let Some(offset) = expect["offset"].as_u64() {
        assert_eq!(error.offset(), Some(offset), "{file}: {error}");
    }
    match error.kind() {
        ErrorKind::Truncated { part, missing } => {
            if let Some(expected) = expect["part"].as_str() {
                assert_eq!(part.name(), expected, "{file}");
            }
            if let Some(expected) = expect["missing_bytes"].as_u64() {
                assert_eq!(*missing, expected, "{file}");
            }
        }
        ErrorKind::LengthPastEnd { claimed } => {
            assert_eq!(Some(*claimed), expect["claimed"].as_u64(), "{file}")
        }
        ErrorKind::NotTfrecord { hint } => assert_eq!(Some(*hint), expect["hint"].as_str(), "{file}"),
        ErrorKind::Compressed { format } => assert!(classes.contains(format), "{file}"),
        _ => {}
    }
    assert!(error.path().is_some(), "{file}: {error:?}");
}

/// How many records a case has before its error, and all in all.
fn good(expect: &Value) -> Option<u64> {
    let list = expect["good"].as_array().map(|list| list.len() as u64);
    let count = |key: &str| expect[key].as_u64();
    let names = expect["records"].as_array().map(|list| list.len() as u64);
    let lengths = expect["lengths"].as_array().map(|list| list.len() as u64);
    list.or(names).or(lengths).or(count("good_records")).or(count("records")).or(count("or_reads"))
}

#[test]
fn streams() {
    for case in cases() {
        let (file, expect) = (case["file"].as_str().unwrap(), &case["expect"]);
        let mut records = 0;
        let mut error = None;
        for item in RecordReader::open(store_support::case(file)).unwrap() {
            match item {
                Ok(payload) => {
                    if let Some(text) = expect["records"][records].as_str() {
                        assert_eq!(payload, text.as_bytes(), "{file}");
                    }
                    if let Some(len) = expect["lengths"][records].as_u64() {
                        assert_eq!(payload.len() as u64, len, "{file}");
                    }
                    records += 1;
                }
                Err(found) => assert!(error.replace(found).is_none(), "{file}: two errors"),
            }
        }
        assert_eq!(Some(records as u64), good(expect).or(expect["record"].as_u64()).or(Some(0)), "{file}");
        match (expect["error"].as_str(), error) {
            (Some(_), None) => assert!(expect["or_reads"].is_u64(), "{file}: no error"),
            (Some(_), Some(error)) => check(file, expect, &error),
            (None, Some(error)) => panic!("{file}: {error}"),
            (None, None) => {}
        }
    }
}

#[test]
fn stores() {
    for access in [Access::Map, Access::Read] {
        for case in cases() {
            let (file, expect) = (case["file"].as_str().unwrap(), &case["expect"]);
            let path = store_support::case(file);
            let compressed = expect["or_reads"].is_u64() || file.contains("gzip_truncated");
            match Store::open_with(&in_memory(access), &path) {
                Ok(store) => {
                    let bad = (0..store.len()).filter_map(|i| store.get(i).err()).collect::<Vec<_>>();
                    assert!(!compressed, "{file}");
                    match expect["error"].as_str() {
                        Some(_) => {
                            assert_eq!(bad.len(), 1, "{file}");
                            check(file, expect, &bad[0]);
                        }
                        None => assert!(bad.is_empty(), "{file}: {bad:?}"),
                    }
                    assert_eq!(Some(store.len() - bad.len() as u64), good(expect), "{file}");
                    for (i, offset) in expect["offsets"].as_array().into_iter().flatten().enumerate() {
                        assert_eq!(store.span(i as u64).unwrap().offset, offset.as_u64().unwrap());
                    }
                }
                Err(error) if compressed => {
                    assert!(matches!(error.kind(), ErrorKind::Compressed { .. }), "{error}")
                }
                Err(error) => {
                    check(file, expect, &error);
                    // What is whole before the fault can be had on request.
                    let whole = Store::open_with(&in_memory(access).whole_records(true), &path);
                    let count = whole.map_or(0, |store| read_all(&store).unwrap().len() as u64);
                    assert_eq!(Some(count), good(expect).or(expect["record"].as_u64()).or(Some(0)), "{file}");
                }
            }
        }
    }
}

#[test]
fn verification_finds_every_problem() {
    for case in cases() {
        let (file, expect) = (case["file"].as_str().unwrap(), &case["expect"]);
        let mut problems = Vec::new();
        let summary = FileVerifier::new().verify(store_support::case(file), |event| {
            if let VerifyEvent::Problem(problem) = event {
                problems.push((class(problem), problem.record(), problem.offset()));
            }
        });
        let summary = summary.unwrap();
        let compressed = expect["or_reads"].is_u64() || file.contains("gzip_truncated");
        assert_eq!(summary.records, summary.good + summary.bad, "{file}");
        assert_eq!(summary.bad, problems.len() as u64, "{file}");
        assert_eq!(summary.bad, u64::from(compressed || expect["error"].is_string()), "{file}: {problems:?}");
        if !compressed {
            assert_eq!(Some(summary.good), good(expect).or(expect["record"].as_u64()).or(Some(0)), "{file}");
        }
    }
}

#[test]
fn salvage_keeps_all_but_the_lost() {
    let path = case("fmt/F10a_resync_after_bad_length.tfrecord");
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for part in Salvage::open(path).unwrap() {
        match part.unwrap() {
            Salvaged::Record(span) => kept.push(span.offset),
            Salvaged::Lost { range, error } => lost.push((range, error.record())),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(kept.len(), 19);
    assert_eq!(lost, [(252..288, Some(7))]);
}

/// Where nobody looks at CRCs, label 4 becomes 12.
#[test]
fn a_flip_that_leaves_the_message_valid() {
    let path = case("parse/P22_flip_keeps_protobuf_valid.tfrecord");
    for access in [Access::Map, Access::Read] {
        let store = Store::open_with(&in_memory(access), &path).unwrap();
        let bad: Vec<_> = (0..store.len()).filter_map(|i| store.get(i).err()).collect();
        assert_eq!((store.len(), bad.len()), (5, 1));
        assert_eq!((class(&bad[0]), bad[0].record()), ("CorruptData", Some(4)));
    }
    let streamed = stream(&case_bytes("parse/P22_flip_keeps_protobuf_valid.tfrecord"));
    assert!(streamed[..4].iter().all(Result::is_ok));
    assert_eq!(class(streamed[4].as_ref().unwrap_err()), "CorruptData");
}

#[test]
fn two_damaged_payloads_are_two_problems() {
    let mut bytes = framed(&payloads(200));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, &bytes).unwrap();
    let spans: Vec<_> = {
        let store = Store::open_with(&in_memory(Access::Read), &path).unwrap();
        (0..store.len()).map(|i| store.span(i).unwrap()).collect()
    };
    for i in [17, 150] {
        bytes[spans[i].offset as usize + 12] ^= 4;
    }
    std::fs::write(&path, &bytes).unwrap();
    for access in [Access::Map, Access::Read] {
        let mut problems = Vec::new();
        let verifier = FileVerifier::new().access(access).jobs(3);
        let summary = verifier.verify(&path, |event| {
            if let VerifyEvent::Problem(problem) = event {
                problems.push((class(problem), problem.record().unwrap(), problem.offset().unwrap()));
            }
        });
        let summary = summary.unwrap();
        assert_eq!((summary.good, summary.bad), (198, 2));
        let expected = [17, 150].map(|i| ("CorruptData", i as u64, spans[i].offset));
        assert_eq!(problems, expected);
    }
}

#[test]
fn a_claim_allocates_nothing() {
    // With a right CRC, in a stream of unknown length.
    let mut bytes = framed(&["alpha"]);
    let mut claim = framed(&[vec![0; 3]]);
    claim.splice(..12, header((7 << 30) + 5));
    bytes.extend_from_slice(&claim);
    let items = stream(&bytes);
    assert!(matches!(
        items[1].as_ref().unwrap_err().kind(),
        ErrorKind::Truncated { part: FramePart::Data, .. }
    ));
    let limited: Vec<_> = RecordReader::new(&bytes[..]).max_record_len(4).collect();
    assert_eq!(class(limited[0].as_ref().unwrap_err()), "LengthPastEnd");
    assert_eq!(limited.len(), 1);
}

/// A header with a right CRC for any length, by the definition of the format.
fn header(len: u64) -> Vec<u8> {
    let mut crc = !0_u32;
    for byte in len.to_le_bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    let masked = (!crc).rotate_right(15).wrapping_add(0xa282_ead8);
    [&len.to_le_bytes()[..], &masked.to_le_bytes()].concat()
}

#[test]
fn zero_fill_is_named() {
    for (zeros, expected) in
        [(1, "Truncated"), (8, "Truncated"), (9, "TrailingBytes"), (100_000, "TrailingBytes")]
    {
        let mut bytes = framed(&payloads(20));
        let end = bytes.len() as u64;
        bytes.resize(bytes.len() + zeros, 0);
        let last = stream(&bytes).pop().unwrap().unwrap_err();
        assert_eq!((class(&last), last.record(), last.offset()), (expected, Some(20), Some(end)), "{zeros}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, &bytes).unwrap();
        let error = Store::open_with(&in_memory(Access::Auto), &path).unwrap_err();
        assert_eq!(
            (class(&error), error.record(), error.offset()),
            (expected, Some(20), Some(end)),
            "{zeros}"
        );
        std::fs::write(&path, vec![0; zeros]).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert_eq!(class(&error), if zeros > 8 { "NotTfrecord" } else { "Truncated" });
    }
}

#[test]
fn other_formats_are_named() {
    let pad = |head: &[u8]| [head, &[0xe3; 600]].concat();
    let cases: [(Vec<u8>, &str, &str); 11] = [
        (b"<!DOCTYPE html>\n<html><body>404</body></html>".to_vec(), "NotTfrecord", "HTML"),
        (b"\n  <HTML><head></head></HTML>".to_vec(), "NotTfrecord", "HTML"),
        (b"{\"a\": 1, \"b\": [1, 2]}".to_vec(), "NotTfrecord", "JSON"),
        ("just some text, \u{e4}\u{f6}\u{fc} and so on".into(), "NotTfrecord", "text"),
        (pad(b"PK\x03\x04"), "NotTfrecord", "zip"),
        (pad(b"\x89HDF\r\n\x1a\n"), "NotTfrecord", "HDF5"),
        (pad(b"\xff\xd8\xff\xe0"), "NotTfrecord", "JPEG"),
        (pad(b"BZh9"), "Compressed", "bzip2"),
        (pad(b"\xfd7zXZ\0"), "Compressed", "xz"),
        (pad(b"\x28\xb5\x2f\xfd"), "Compressed", "zstd"),
        (pad(b"\x01\x02\x03\x04"), "CorruptLength", "TFRecord"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for (bytes, expected, word) in cases {
        let streamed = stream(&bytes).pop().unwrap().unwrap_err();
        std::fs::write(&path, &bytes).unwrap();
        for error in [streamed, Store::open(&path).unwrap_err()] {
            assert_eq!(class(&error), expected, "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
