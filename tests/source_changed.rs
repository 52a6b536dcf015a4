//! The fear: a file that is cut or replaced while it is open takes the process down, or gives wrong records.

mod store_support;

use std::fs;
use std::path::PathBuf;

use store_support::*;
use tfrmap::{Access, Dataset, Record, Store, Verify};

#[test]
fn a_file_cut_while_it_is_read_is_an_error() {
    let payloads: Vec<Vec<u8>> = (0..200_u8).map(|i| vec![i; 1000]).collect();
    for verify in [Verify::Full, Verify::Length, Verify::Off] {
        for len in [0, 5, 1016 * 100 + 3] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("data");
            fs::write(&path, framed(&payloads)).unwrap();
            let store = Store::open_with(&in_memory(Access::Read).verify(verify), &path).unwrap();
            let before = store.get(150).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
            for i in 0..200 {
                match store.get(i) {
                    Ok(record) => assert_eq!(record.as_bytes(), payloads[i as usize]),
                    Err(error) => {
                        assert_eq!(class(&error), "SourceChanged", "{error}");
                        assert_eq!((error.record(), error.path()), (Some(i), Some(&*path)));
                    }
                }
            }
            assert_eq!(store.get(150).unwrap_err().kind().name(), "SourceChanged");
            assert_eq!(before.as_bytes(), payloads[150]);
        }
    }
}

#[test]
fn a_file_cut_under_a_run_is_an_error_of_that_run() {
    let payloads: Vec<Vec<u8>> = (0..2000_u32).map(|i| i.to_le_bytes().repeat(250)).collect();
    for threads in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, framed(&payloads)).unwrap();
        let dataset = Dataset::open_with(&in_memory(Access::Read), [&path]).unwrap();
        let closure = |record: Record| Ok((record.index(), record.to_vec()));
        let mut run = dataset.map(closure).batches(5).threads(threads).prefetch(2);
        let mut rows = run.next().unwrap().unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(1016 * 1000 + 3).unwrap();
        let error = loop {
            match run.next().expect("the end is never reached") {
                Ok(batch) => rows.extend(batch),
                Err(error) => break error,
            }
        };
        assert_eq!(class(&error), "SourceChanged", "{error}");
        assert_eq!((error.record(), error.path()), (Some(1000), Some(&*path)));
        assert_eq!(rows.len(), 1000);
        assert!(rows.iter().all(|(i, bytes)| *bytes == payloads[*i as usize]));
        assert!(run.next().is_none());
    }
}

#[test]
fn a_file_cut_before_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for access in [Access::Map, Access::Read] {
        fs::write(&path, framed(&payloads(100))).unwrap();
        let store = Store::open_with(&in_memory(access), &path).unwrap();
        fs::write(&path, framed(&payloads(50))).unwrap();
        assert_eq!(class(&store.get(3).unwrap_err()), "SourceChanged");
    }
}

#[test]
fn a_file_replaced_by_rename_stays_what_it_was() {
    for access in [Access::Map, Access::Read] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, framed(&payloads(100))).unwrap();
        let store = Store::open_with(&in_memory(access), &path).unwrap();
        store.get(0).unwrap();
        let new = folder.path().join("new");
        fs::write(&new, b"something else").unwrap();
        fs::rename(&new, &path).unwrap();
        assert_eq!(read_all(&store).unwrap(), payloads(100));
        fs::remove_file(&path).unwrap();
        assert_eq!(read_all(&store).unwrap(), payloads(100));
    }
}

#[test]
fn records_outlive_their_store() {
    for access in [Access::Map, Access::Read] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, framed(&payloads(100))).unwrap();
        let store = Store::open_with(&in_memory(access), &path).unwrap();
        let records: Vec<_> = (0..100).map(|i| store.get(i).unwrap()).collect();
        drop(store);
        let threads: Vec<_> = records
            .into_iter()
            .enumerate()
            .map(|(i, record)| {
                std::thread::spawn(move || {
                    assert_eq!(record.as_bytes(), payloads(100)[i]);
                    assert_eq!((record.index(), record.path().is_absolute()), (i as u64, true));
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// Not a test of its own: the contract of the map is broken here on purpose.
#[test]
fn child_breaks_the_contract() {
    let Some(path) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    let access = if std::env::var_os("TFRMAP_TEST_READ").is_some() { Access::Read } else { Access::Map };
    let store = Store::open_with(&in_memory(access), &path).unwrap();
    store.get(0).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    println!("READ {:?}", store.get(150).map(|record| record.len()).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn what_breaking_the_contract_of_the_map_does() {
    use std::os::unix::process::ExitStatusExt;
    let payloads: Vec<Vec<u8>> = (0..200_u8).map(|i| vec![i; 1000]).collect();
    let run = |variables: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, framed(&payloads)).unwrap();
        let target = [("TFRMAP_TEST_TARGET", path.to_str().unwrap())];
        again("child_breaks_the_contract", &[&target[..], variables].concat()).wait_with_output().unwrap()
    };
    // With a map the system ends the process (SIGBUS, 7): so says the contract. With reads it is an error.
    assert_eq!(run(&[]).status.signal(), Some(7));
    let output = run(&[("TFRMAP_TEST_READ", "1")]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("READ true"));
}
