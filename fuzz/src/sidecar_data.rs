//! Any sidecar beside any data: a record that is given out is one that the data proves.

use std::fs;
use std::path::Path;

use tfrmap::{Access, BuildStatus, Index, IndexBuilder, IndexState, MissingIndex, OpenOptions, Store};

use super::index::mend_sidecar;
use super::input::{self, HEADER, OVERHEAD};
use super::scratch::scratch;

/// After a mode byte: the data, then the sidecar as it stands or, by the mode, as edits of the right one and of the data.
pub fn run(input: &[u8]) {
    let Some((&mode, rest)) = input.split_first() else { return };
    let Some((data, rest)) = input::split(rest) else { return };
    let mut data = data.to_vec();
    if mode & 1 != 0 {
        input::mend_frames(&mut data);
    }
    scratch(|folder| {
        let path = folder.join("data");
        fs::write(&path, &data).unwrap();
        let sidecar = Index::sidecar_path(&path, None);
        let mut bytes = rest.to_vec();
        if mode & 2 != 0
            && let Ok(index) = Index::build(&path)
        {
            index.save(&path).unwrap();
            bytes = fs::read(&sidecar).unwrap();
            edit(&mut bytes, &mut data, rest);
            fs::write(&path, &data).unwrap();
        }
        mend_sidecar(&mut bytes, mode >> 2);
        fs::create_dir_all(sidecar.parent().unwrap()).unwrap();
        fs::write(&sidecar, &bytes).unwrap();
        for access in [Access::Map, Access::Read] {
            let options = OpenOptions::new().access(access).missing_index(MissingIndex::Fail);
            if let Ok(store) = Store::open_with(&options, &path) {
                every_record_is_proven(&store, &data);
            }
        }
        a_checked_index_is_right(&path, &data);
        a_build_makes_it_right(&path, &data, mode & 16 != 0);
    });
}

/// Edits of four bytes: a place (of the data where its highest bit is set), an operation, a value.
fn edit(sidecar: &mut Vec<u8>, data: &mut Vec<u8>, edits: &[u8]) {
    for edit in edits.chunks_exact(4).take(16) {
        let place = usize::from(u16::from_le_bytes([edit[0], edit[1]]) & 0x7fff);
        let bytes = if edit[1] & 0x80 == 0 { &mut *sidecar } else { &mut *data };
        match edit[2] % 4 {
            0 | 1 if place < bytes.len() => bytes[place] ^= edit[3],
            2 => bytes.truncate(place),
            3 if edit[1] & 0x80 != 0 && bytes.len() < 5000 => {
                bytes.extend_from_slice(&input::framed(&vec![edit[3]; place % 64]));
            }
            3 if bytes.len() < 5000 => bytes.extend_from_slice(&edit[2..]),
            _ => {}
        }
    }
}

fn every_record_is_proven(store: &Store, data: &[u8]) {
    for i in 0..store.len().min(500) {
        if let Ok(record) = store.get(i) {
            let at = record.offset() as usize;
            let frame = &data[at..at + OVERHEAD + record.len()];
            assert_eq!(input::framed(&record), frame, "record {i}");
        }
    }
    assert!(store.get(store.len()).is_err() && store.get(u64::MAX).is_err());
}

fn frames_of(index: &Index) -> Vec<(u64, u64)> {
    (0..index.len()).map(|i| index.get(i).unwrap()).map(|span| (span.offset, span.payload_len)).collect()
}

/// An index that was checked names exactly the frames that a walk finds.
fn a_checked_index_is_right(path: &Path, data: &[u8]) {
    let state = IndexState::of(path, None).unwrap();
    let checked = Index::open(path).and_then(|index| index.check(path).map(|()| index));
    if let Ok(index) = checked {
        assert_eq!(frames_of(&index), input::walk(data));
        assert_eq!(index.data_len(), data.len() as u64);
        assert_eq!(state.name(), "fresh");
    }
}

/// Whatever lies there, a build leaves a right index, or a reason.
fn a_build_makes_it_right(path: &Path, data: &[u8], check: bool) {
    let reports = IndexBuilder::new().jobs(1).check(check).build(&[path.into()], |_| {});
    let report = &reports[0];
    let frames = input::walk(data);
    let whole = frames.last().map_or(0, |(at, len)| at + len + OVERHEAD as u64) == data.len() as u64;
    let sound = |(at, len): &(u64, u64)| {
        let (at, len) = (*at as usize, *len as usize);
        input::framed(&data[at + HEADER..at + HEADER + len]) == data[at..at + len + OVERHEAD]
    };
    if !whole || check && !frames.iter().all(sound) {
        assert_eq!(report.status, BuildStatus::Failed);
        assert!(report.error.is_some());
        return;
    }
    assert!(report.error.is_none(), "{report:?}");
    assert_eq!(report.records, frames.len() as u64);
    let index = Index::open(path).unwrap();
    // Data that was changed inside of records, with the frames where they were, is noticed when it is read.
    if report.status != BuildStatus::Fresh && report.status != BuildStatus::Extended || check {
        assert_eq!(frames_of(&index), frames);
        index.check(path).unwrap();
    }
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/fmt"), data.join("cases/idx"), data.join("cases/parse")];
    let files = folders
        .iter()
        .flat_map(|folder| input::contents(folder, 600))
        .filter(|file| !input::walk(file).is_empty());
    let edits: [&[u8]; 7] = [
        b"",
        b"\x28\x00\x00\x01",
        b"\x30\x00\x00\x08\x40\x00\x01\xff",
        b"\x3f\x00\x02\x00",
        b"\x10\x80\x03\x07",
        b"\x08\x80\x02\x00",
        b"\x0d\x80\x00\x04\x0f\x80\x03\x22",
    ];
    let mut seeds = Vec::new();
    for (i, file) in files.enumerate() {
        let mode = [3, 2, 3 | 4, 3 | 12, 2 | 12, 3 | 16][i % 6];
        seeds.push([&[mode][..], &input::join(&file, edits[i % edits.len()])].concat());
    }
    for name in ["cases/dirs/S03_three/three.tfrecord", "cases/dirs/S01_sorted/s-00003-of-00010"] {
        let (Ok(file), sidecar) = (fs::read(data.join(name)), Index::sidecar_path(data.join(name), None))
        else {
            continue;
        };
        seeds.push([&[0][..], &input::join(&file, &fs::read(sidecar).unwrap_or_default())].concat());
    }
    seeds
}
