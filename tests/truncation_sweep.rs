//! The fear: some length at which a file or a sidecar is cut gives a panic, a wrong record, or silence.

mod store_support;

use std::fs;

use store_support::*;
use tfrmap::{Access, Error, FileVerifier, Index, Salvage, Salvaged, Store};

#[test]
fn data_cut_at_every_length() {
    let payloads = payloads(12);
    let bytes = framed(&payloads);
    let ends: Vec<usize> = (0..=payloads.len()).map(|n| framed(&payloads[..n]).len()).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for len in 0..bytes.len() {
        let whole = ends.iter().filter(|end| **end <= len).count() - 1;
        let clean = ends.contains(&len);
        let (at, record) = (ends[whole] as u64, whole as u64);
        // A payload longer than the whole file cannot be told from a wrong length; a stream has no length to compare.
        let claim = payloads.get(whole).map_or(0, Vec::len);
        let past_end = len - ends[whole] >= 12 && claim > len;
        let place = |error: &Error| (class(error), error.record(), error.offset());

        let items = stream(&bytes[..len]);
        assert_eq!(items.len(), whole + usize::from(!clean), "{len}");
        for (i, item) in items.into_iter().enumerate() {
            match item {
                Ok(payload) => assert_eq!(payload, payloads[i]),
                Err(error) => {
                    assert_eq!(place(&error), ("Truncated", Some(record), Some(at)));
                }
            }
        }

        fs::write(&path, &bytes[..len]).unwrap();
        for access in [Access::Map, Access::Read] {
            match Store::open_with(&in_memory(access), &path) {
                Ok(store) => {
                    assert!(clean, "{len}");
                    assert_eq!(read_all(&store).unwrap(), payloads[..whole]);
                }
                Err(error) => {
                    assert!(!clean, "{len}: {error}");
                    assert_eq!(
                        place(&error),
                        (if past_end { "LengthPastEnd" } else { "Truncated" }, Some(record), Some(at))
                    );
                }
            }
        }
        let summary = FileVerifier::new().verify(&path, |_| {}).unwrap();
        assert_eq!((summary.good, summary.bad), (record, u64::from(!clean)), "{len}");
        let parts: Vec<_> = Salvage::open(&path).unwrap().map(Result::unwrap).collect();
        let kept = parts.iter().filter(|part| matches!(part, Salvaged::Record(_))).count();
        assert_eq!((kept, parts.len() - kept), (whole, usize::from(!clean)), "{len}");
    }
}

#[test]
fn data_cut_at_every_length_after_it_was_indexed() {
    let payloads = payloads(12);
    let bytes = framed(&payloads);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, &bytes).unwrap();
    Store::open(&path).unwrap();
    for len in 0..bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        let error = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap_err();
        assert_eq!(class(&error), "IndexMismatch", "{len}");
    }
}

#[test]
fn sidecar_cut_at_every_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, framed(&payloads(12))).unwrap();
    Store::open(&path).unwrap();
    let whole = fs::read(sidecar(&path)).unwrap();
    for len in 0..whole.len() {
        fs::write(sidecar(&path), &whole[..len]).unwrap();
        for error in [Store::open(&path).unwrap_err(), Index::open(&path).unwrap_err()] {
            assert_eq!(class(&error), "IndexCorrupt", "{len}");
        }
    }
    for more in [1, 4, 12, 1000] {
        let longer = [&whole[..], &vec![0; more]].concat();
        fs::write(sidecar(&path), longer).unwrap();
        assert_eq!(class(&Store::open(&path).unwrap_err()), "IndexCorrupt", "{more}");
    }
}

#[test]
fn compressed_streams_cut_at_every_length() {
    for (name, records) in [
        ("golden/framing/files/gzip_l6.tfrecord", 3),
        ("golden/framing/files/gzip_members_split_in_record.tfrecord", 3),
        ("golden/framing/files/zlib_l6.tfrecord", 3),
    ] {
        let bytes = fs::read(data("", name)).unwrap();
        assert_eq!(stream(&bytes).len(), records);
        // Between members nothing tells that one is missing.
        let mut silent = 0;
        for len in 1..bytes.len() {
            let items = stream(&bytes[..len]);
            match items.last() {
                Some(Err(error)) => assert_eq!(class(error), "Truncated", "{name} {len}: {error}"),
                _ => silent += 1,
            }
        }
        assert!(silent <= 1, "{name}: {silent}");
    }
}
