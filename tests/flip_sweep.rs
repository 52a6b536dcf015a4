//! The fear: a bit that turns in a file or a sidecar gives a panic or a wrong record.

mod store_support;

use std::fs;

use store_support::*;
use tfrmap::{Access, FileVerifier, Salvage, Salvaged, Store, Verify, VerifyEvent};

const FLIPS: [u8; 4] = [0x01, 0x10, 0x80, 0xff];

/// Errors that may be met where the data was damaged after it was indexed.
const DATA: [&str; 3] = ["CorruptData", "StaleIndex", "IndexMismatch"];

#[test]
fn every_byte_of_a_stream() {
    let payloads = payloads(9);
    let bytes = framed(&payloads);
    for at in 0..bytes.len() {
        for flip in FLIPS {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            let items = stream(&bytes);
            let bad =
                items.iter().position(Result::is_err).unwrap_or_else(|| panic!("byte {at} not noticed"));
            let error = items[bad].as_ref().unwrap_err();
            assert!(["CorruptLength", "CorruptData"].contains(&class(error)), "{error}");
            assert!(error.offset().unwrap() <= at as u64);
            for (i, item) in items.iter().enumerate() {
                if let Ok(payload) = item {
                    assert_eq!(*payload, payloads[i], "byte {at}");
                }
            }
            if class(error) == "CorruptData" {
                assert_eq!(items.len(), payloads.len(), "byte {at}: others are lost with it");
            }
        }
    }
}

#[test]
fn every_byte_of_a_file_before_it_is_indexed() {
    let payloads = payloads(9);
    let bytes = framed(&payloads);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= FLIPS[at % 4];
        fs::write(&path, &bytes).unwrap();
        match Store::open_with(&in_memory(Access::Auto), &path) {
            Ok(store) => {
                let bad: Vec<_> = (0..store.len()).filter_map(|i| store.get(i).err()).collect();
                assert_eq!(bad.len(), 1, "byte {at}");
                assert_eq!(class(&bad[0]), "CorruptData");
            }
            Err(error) => assert_eq!(class(&error), "CorruptLength", "byte {at}"),
        }
        let mut problems = 0;
        let count = |event: VerifyEvent<'_>| problems += u64::from(matches!(event, VerifyEvent::Problem(_)));
        assert_eq!((FileVerifier::new().verify(&path, count).unwrap().bad, problems), (1, 1));
        // One record is lost, whatever byte it was; all others are had.
        let salvage = Salvage::open(&path).unwrap();
        let (mut kept, mut lost, mut payload) = (Vec::new(), 0, Vec::new());
        let mut parts = Salvage::open(&path).unwrap();
        while let Some(part) = parts.next().transpose().unwrap() {
            match part {
                Salvaged::Record(span) => {
                    salvage.read_into(span, &mut payload).unwrap();
                    kept.push(payload.clone());
                }
                Salvaged::Lost { .. } => lost += 1,
                other => panic!("byte {at}: {other:?}"),
            }
        }
        assert_eq!(lost, 1, "byte {at}");
        let mut expected = payloads.clone();
        let gone = (0..payloads.len()).find(|n| framed(&payloads[..=*n]).len() > at).unwrap();
        expected.remove(gone);
        assert_eq!(kept, expected, "byte {at}");
    }
}

#[test]
fn every_byte_of_a_file_after_it_was_indexed() {
    let payloads = payloads(9);
    let bytes = framed(&payloads);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, &bytes).unwrap();
    Store::open(&path).unwrap();
    for at in 0..bytes.len() {
        for flip in FLIPS {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            fs::write(&path, &bytes).unwrap();
            for access in [Access::Map, Access::Read] {
                let store = Store::open_with(&only_sidecar(access), &path).unwrap();
                let mut bad = 0;
                for (i, payload) in payloads.iter().enumerate() {
                    match store.get(i as u64) {
                        Ok(record) => assert_eq!(record.as_bytes(), payload, "byte {at}"),
                        Err(error) => {
                            assert!(DATA.contains(&class(&error)), "byte {at}: {error}");
                            bad += 1;
                        }
                    }
                }
                assert!(bad > 0, "byte {at} not noticed");
                assert!(store.verify().is_err());
            }
        }
    }
}

#[test]
fn every_byte_of_a_sidecar() {
    // Small indexes are held in memory, large ones are mapped or read: both.
    for n in [9, 90] {
        let payloads = payloads(n);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, framed(&payloads)).unwrap();
        Store::open(&path).unwrap();
        let whole = fs::read(sidecar(&path)).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= FLIPS[at % 4];
            fs::write(sidecar(&path), &bytes).unwrap();
            for (access, verify) in
                [(Access::Map, Verify::Full), (Access::Read, Verify::Full), (Access::Map, Verify::Off)]
            {
                let allowed = ["IndexCorrupt", "IndexVersion"];
                match Store::open_with(&only_sidecar(access).verify(verify), &path) {
                    Err(error) => assert!(allowed.contains(&class(&error)), "byte {at}: {error}"),
                    Ok(store) => {
                        assert_eq!(store.len(), n as u64, "byte {at}");
                        for (i, payload) in payloads.iter().enumerate() {
                            match store.get(i as u64) {
                                Ok(record) => assert_eq!(record.as_bytes(), payload, "byte {at}"),
                                Err(error) => assert!(allowed.contains(&class(&error)), "byte {at}: {error}"),
                            }
                        }
                        // Reads may not meet it; a verification does.
                        assert_eq!(class(&store.verify().unwrap_err()), "IndexCorrupt", "byte {at}");
                    }
                }
            }
        }
    }
}
