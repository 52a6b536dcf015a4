//! The fear: a later version cannot open the sidecars of an earlier one, or takes what it writes for something else.

mod store_support;

use std::fs;

use store_support::*;
use tfrmap::{Access, Index, Store};

/// Version 1, as its first release wrote it: never change these files.
const SAMPLES: [(&str, &str); 3] = [
    ("cases/fmt/F01_control.tfrecord", "sidecars/v1/F01_control.tfrecord.tfri"),
    ("cases/fmt/F03_empty.tfrecord", "sidecars/v1/F03_empty.tfrecord.tfri"),
    ("golden/framing/files/many.tfrecord", "sidecars/v1/many.tfrecord.tfri"),
];

#[test]
fn sidecars_of_every_version_open() {
    for (name, sample) in SAMPLES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::copy(data("", name), &path).unwrap();
        fs::create_dir(folder.path().join(".tfrmap")).unwrap();
        fs::copy(data("", sample), sidecar(&path)).unwrap();
        for access in [Access::Map, Access::Read] {
            let store = Store::open_with(&only_sidecar(access), &path).unwrap();
            store.verify().unwrap();
            let streamed: Vec<_> =
                stream(&fs::read(&path).unwrap()).into_iter().map(Result::unwrap).collect();
            assert_eq!(read_all(&store).unwrap(), streamed);
        }
        Index::open(&path).unwrap().check(&path).unwrap();
    }
}

#[test]
fn this_version_writes_the_same_bytes() {
    for (name, sample) in SAMPLES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::copy(data("", name), &path).unwrap();
        let written = Index::build(&path).unwrap().save(&path).unwrap();
        assert_eq!(fs::read(written).unwrap(), fs::read(data("", sample)).unwrap(), "{sample}");
    }
}

/// The layout of `docs/index-format.md`, read without the library.
#[test]
fn the_layout_is_as_documented() {
    let bytes = fs::read(data("", SAMPLES[0].1)).unwrap();
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(&bytes[..8], b"\x89TFRI\r\n\n");
    assert_eq!((u32_at(8), u32_at(12), u64_at(16), u64_at(24), u32_at(32)), (1, 0, 3, 85, 0));
    assert_eq!(u32_at(36), crc32c(&bytes[..36]));
    assert_eq!([40, 48, 56, 64].map(u64_at), [0, 21, 48, 85]);
    let data = case_bytes("fmt/F01_control.tfrecord");
    for (i, end) in [21, 48, 85].into_iter().enumerate() {
        assert_eq!(bytes[72 + 4 * i..76 + 4 * i], data[end - 4..end]);
    }
    assert_eq!(u32_at(84), crc32c(&bytes[40..84]));
    assert_eq!(bytes.len(), 52 + 12 * 3);
}

/// CRC-32C by its definition.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 },
        )
    })
}
