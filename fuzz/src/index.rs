//! Any bytes as a sidecar: opening it and asking it for anything gives an answer or an error.

use std::fs;
use std::path::Path;

use tfrmap::Index;

use super::input;
use super::scratch::scratch;

/// The header's length, and where its CRC stands.
const HEADER: usize = 40;
const HEADER_CRC: usize = 36;

pub fn run(data: &[u8]) {
    let Some((&mode, rest)) = data.split_first() else { return };
    let mut bytes = rest.to_vec();
    mend_sidecar(&mut bytes, mode);
    scratch(|folder| {
        let path = folder.join("data");
        let sidecar = Index::sidecar_path(&path, None);
        fs::create_dir_all(sidecar.parent().unwrap()).unwrap();
        fs::write(&sidecar, &bytes).unwrap();
        let Ok(index) = Index::open(&path) else { return };
        assert_eq!(bytes.len() as u64, 40 + 8 * (index.len() + 1) + 4 * index.len() + 4);
        let holds = crc32c::crc32c(&bytes[HEADER..bytes.len() - 4]) == index.checksum().unwrap();
        assert_eq!(index.check_body().is_ok(), holds);
        for i in (0..index.len().min(200)).chain([index.len(), index.len() + 1, u64::MAX / 8, u64::MAX]) {
            if let Some(span) = index.get(i) {
                assert!(i < index.len());
                let end = span.offset.checked_add(span.payload_len).and_then(|end| end.checked_add(16));
                assert!(end.is_some_and(|end| end <= index.data_len()));
            }
        }
        let _ = index.write_text(Vec::new(), 0..index.len() + 1);
        assert!(index.check(folder.join("none")).is_err());
    });
}

/// Bit 0: makes the count that of the length, and the header's CRC right. Bit 1: makes the checksum of the body right.
pub fn mend_sidecar(bytes: &mut [u8], mode: u8) {
    if mode & 1 != 0 && bytes.len() >= HEADER {
        if bytes.len() >= HEADER + 12 {
            let count = (bytes.len() - HEADER - 12) as u64 / 12;
            bytes[16..24].copy_from_slice(&count.to_le_bytes());
        }
        let crc = crc32c::crc32c(&bytes[..HEADER_CRC]);
        bytes[HEADER_CRC..HEADER].copy_from_slice(&crc.to_le_bytes());
    }
    if mode & 2 != 0 && bytes.len() >= HEADER + 4 {
        let end = bytes.len() - 4;
        let crc = crc32c::crc32c(&bytes[HEADER..end]);
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
    }
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [
        data.join("cases/dirs/S01_sorted/.tfrmap"),
        data.join("cases/dirs/S03_three/.tfrmap"),
        data.join("sidecars/v1"),
        data.join("cases/idx"),
    ];
    let files = folders.iter().flat_map(|folder| input::contents(folder, 4000));
    files.enumerate().map(|(i, file)| [&[(i % 4) as u8][..], &file].concat()).collect()
}
