//! The fear: an index of other data gives a wrong record, or a record too few.

mod store_support;

use std::fs;
use std::path::{Path, PathBuf};

use store_support::*;
use tempfile::TempDir;
use tfrmap::{Access, BuildStatus, Index, IndexBuilder, IndexState, Store, Verify};

/// A data file of these bytes with its sidecar.
fn indexed(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.tfrecord");
    fs::write(&path, bytes).unwrap();
    Store::open(&path).unwrap();
    assert!(sidecar(&path).is_file());
    (folder, path)
}

/// The class of the error at opening or at the first read that fails. Whatever is read is checked against `truth`.
fn fault(path: &Path, verify: Verify, truth: &[Vec<u8>]) -> &'static str {
    let mut faults = Vec::new();
    for access in [Access::Map, Access::Read] {
        let fault = match Store::open_with(&only_sidecar(access).verify(verify), path) {
            Err(error) => {
                assert!(error.path().is_some() && error.help().is_some(), "{error:?}");
                class(&error)
            }
            Ok(store) => {
                let reads: Vec<_> = (0..store.len()).map(|i| store.get(i)).collect();
                for (i, read) in reads.iter().enumerate() {
                    if let Ok(record) = read {
                        assert_eq!(record.as_bytes(), truth[i]);
                    }
                    let mut buf = Vec::new();
                    let into = store.read_into(i as u64, &mut buf);
                    assert_eq!(into.err().map(|e| class(&e)), read.as_ref().err().map(class));
                }
                reads.iter().find_map(|read| read.as_ref().err()).map_or("none", class)
            }
        };
        faults.push(fault);
    }
    assert_eq!(faults[0], faults[1]);
    faults[0]
}

fn build(path: &Path) -> (BuildStatus, u64) {
    let report = &IndexBuilder::new().build(&[path.to_path_buf()], |_| {})[0];
    (report.status, report.records)
}

#[test]
fn a_grown_file() {
    let (_folder, path) = indexed(&case_bytes("idx/X01_before.tfrecord"));
    let grown = case_bytes("idx/X01_after_grown.tfrecord");
    fs::write(&path, &grown).unwrap();
    let truth: Vec<_> = stream(&grown).into_iter().map(Result::unwrap).collect();
    assert_eq!(fault(&path, Verify::Full, &truth), "StaleIndex");
    assert!(matches!(IndexState::of(&path, None).unwrap(), IndexState::Stale(_)));
    assert_eq!(build(&path), (BuildStatus::Extended, 4));
    assert_eq!(fault(&path, Verify::Full, &truth), "none");
    assert_eq!(Store::open(&path).unwrap().len(), 4);
    assert_eq!(build(&path), (BuildStatus::Fresh, 4));
    // The extended index is the one that would have been built.
    let extended = fs::read(sidecar(&path)).unwrap();
    fs::remove_file(sidecar(&path)).unwrap();
    assert_eq!(build(&path), (BuildStatus::Built, 4));
    assert_eq!(fs::read(sidecar(&path)).unwrap(), extended);
}

#[test]
fn a_grown_file_with_a_torn_tail() {
    let payloads = payloads(50);
    let (_folder, path) = indexed(&framed(&payloads));
    let mut bytes = framed(&payloads);
    bytes.extend_from_slice(&framed(&["more"])[..13]);
    fs::write(&path, &bytes).unwrap();
    let report = &IndexBuilder::new().build(std::slice::from_ref(&path), |_| {})[0];
    assert_eq!((report.status, report.records), (BuildStatus::Failed, 50));
    let error = report.error.as_ref().unwrap();
    assert_eq!((class(error), error.record()), ("Truncated", Some(50)));
}

#[test]
fn a_file_replaced_by_one_of_the_same_size() {
    let (_folder, path) = indexed(&case_bytes("idx/X01_before.tfrecord"));
    let old_time = fs::metadata(&path).unwrap().modified().unwrap();
    let other = case_bytes("idx/X02_same_size_other_offsets.tfrecord");
    for restore_time in [false, true] {
        fs::write(&path, &other).unwrap();
        if restore_time {
            fs::File::options().write(true).open(&path).unwrap().set_modified(old_time).unwrap();
        }
        for verify in [Verify::Full, Verify::Length] {
            let fault = fault(&path, verify, &[vec![], vec![], vec![]]);
            assert!(["StaleIndex", "IndexMismatch"].contains(&fault), "{fault}");
        }
    }
    assert_eq!(build(&path).0, BuildStatus::Rebuilt);
    let truth: Vec<_> = stream(&other).into_iter().map(Result::unwrap).collect();
    assert_eq!(fault(&path, Verify::Full, &truth), "none");
}

#[test]
fn another_files_index() {
    for (mine, other) in [
        ("idx/X01_before.tfrecord", "idx/X04_other_file_same_count.tfrecord"),
        ("dirs/S03_three/three.tfrecord", "dirs/S02_ten/ten.tfrecord"),
    ] {
        let (_folder, path) = indexed(&case_bytes(mine));
        fs::write(&path, case_bytes(other)).unwrap();
        let error = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap_err();
        assert!(error.is_stale_index(), "{error}");
        let text = error.to_string();
        assert!(text.contains("data.tfrecord:") && text.contains("data.tfrecord.tfri"), "{text}");
    }
}

#[test]
fn the_same_offsets_with_other_contents() {
    let payloads = payloads(300);
    let (_folder, path) = indexed(&framed(&payloads));
    // In the middle only: first and last frame are as they were.
    let mut others = payloads.clone();
    others[100].iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&path, framed(&others)).unwrap();
    assert_eq!(fault(&path, Verify::Full, &payloads), "StaleIndex");
    assert_eq!(fault(&path, Verify::Length, &payloads), "StaleIndex");
    assert_eq!(fault(&path, Verify::Off, &payloads), "StaleIndex");
    let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
    assert_eq!(store.get(100).unwrap_err().record(), Some(100));
    assert!(store.get(101).is_ok());
    assert!(store.verify().is_err());
    assert!(Index::open(&path).unwrap().check(&path).unwrap_err().is_stale_index());
    // Looking into every payload finds it where a few samples do not.
    let report = &IndexBuilder::new().check(true).build(std::slice::from_ref(&path), |_| {})[0];
    assert_eq!(report.status, BuildStatus::Rebuilt);
    assert_eq!(fault(&path, Verify::Full, &others), "none");
}

#[test]
fn two_records_have_changed_places() {
    let mut payloads: Vec<Vec<u8>> = (0..40_u8).map(|i| vec![i; 20]).collect();
    let (_folder, path) = indexed(&framed(&payloads));
    let truth = payloads.clone();
    payloads.swap(10, 20);
    fs::write(&path, framed(&payloads)).unwrap();
    assert_eq!(fault(&path, Verify::Full, &truth), "StaleIndex");
}

#[test]
fn a_damaged_payload_is_the_datas_fault() {
    let payloads = payloads(30);
    let bytes = framed(&payloads);
    let (_folder, path) = indexed(&bytes);
    let span = Store::open(&path).unwrap().span(7).unwrap();
    let cut = |at: u64| {
        let mut bytes = bytes.clone();
        bytes[at as usize] ^= 0x40;
        fs::write(&path, bytes).unwrap();
        fault(&path, Verify::Full, &payloads)
    };
    assert_eq!(cut(span.offset + 12), "CorruptData");
    assert_eq!(cut(span.offset + 12 + span.payload_len), "CorruptData");
    assert_eq!(cut(span.offset), "IndexMismatch");
    assert_eq!(cut(span.offset + 8), "IndexMismatch");
}

#[test]
fn a_cut_file() {
    let payloads = payloads(30);
    let bytes = framed(&payloads);
    let (_folder, path) = indexed(&bytes);
    for len in [0, 1, 100, bytes.len() - 1] {
        fs::write(&path, &bytes[..len]).unwrap();
        assert_eq!(fault(&path, Verify::Full, &payloads), "IndexMismatch", "{len}");
    }
}

#[test]
fn the_same_contents_are_the_same_file() {
    let payloads = payloads(30);
    let (folder, path) = indexed(&framed(&payloads));
    let sidecar_before = fs::read(sidecar(&path)).unwrap();
    // Another inode, another time.
    let copy = folder.path().join("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(fault(&path, Verify::Full, &payloads), "none");
    assert_eq!(build(&path), (BuildStatus::Fresh, 30));
    assert_eq!(fs::read(sidecar(&path)).unwrap(), sidecar_before);
}

#[test]
fn damaged_sidecars_have_names() {
    let payloads = payloads(30);
    let (_folder, path) = indexed(&framed(&payloads));
    let whole = fs::read(sidecar(&path)).unwrap();
    let newer = {
        let mut bytes = whole.clone();
        bytes[8] = 2;
        bytes
    };
    let random: Vec<u8> = (0..500_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let empty = case_bytes("idx/X06_empty_index.idx");
    assert!(empty.is_empty());
    // Whole by itself, but it would make the data an empty set, silently.
    let no_records = {
        let mut bytes = [&whole[..40], &(framed(&payloads).len() as u64).to_le_bytes()].concat();
        bytes[16..24].copy_from_slice(&0_u64.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..36]);
        bytes[36..40].copy_from_slice(&crc.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[40..]);
        [bytes, crc.to_le_bytes().to_vec()].concat()
    };
    let cases: [(&[u8], &str); 8] = [
        (&empty, "IndexCorrupt"),
        (&no_records, "IndexCorrupt"),
        (&whole[..whole.len() / 2], "IndexCorrupt"),
        (&whole[..whole.len() - 1], "IndexCorrupt"),
        (&random, "IndexCorrupt"),
        (&newer, "IndexVersion"),
        (b"0 21\n21 27\n48 37\n", "IndexFormat"),
        (b"0 21\r\n21 27\r\n48 37\r\n85 21\r\n106 44\r\n", "IndexFormat"),
    ];
    for (bytes, expected) in cases {
        fs::write(sidecar(&path), bytes).unwrap();
        assert_eq!(fault(&path, Verify::Full, &payloads), expected);
        assert_eq!(IndexState::of(&path, None).unwrap().name(), "corrupt");
        assert_eq!(build(&path), (BuildStatus::Rebuilt, 30));
        assert_eq!(fs::read(sidecar(&path)).unwrap(), whole);
    }
}

#[test]
fn a_sidecar_replaced_while_open() {
    let payloads = payloads(200);
    let (_folder, path) = indexed(&framed(&payloads));
    let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
    let mut others = payloads.clone();
    others.push(b"one more".to_vec());
    let grown = path.with_extension("new");
    fs::write(&grown, framed(&others)).unwrap();
    fs::rename(&grown, &path).unwrap();
    build(&path);
    // Not opened before: by now both are others.
    let error = store.get(3).unwrap_err();
    assert!(["SourceChanged", "StaleIndex", "IndexMismatch"].contains(&class(&error)), "{error}");
}
