//! Reading the golden data: NumPy archives, JSON, SHA-256.
#![allow(dead_code)]

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folder of golden data: the whole set where the environment says so, else the part in the repository.
pub fn golden_root() -> PathBuf {
    match std::env::var_os("TFRMAP_GOLDEN") {
        Some(folder) => PathBuf::from(folder),
        None => {
            eprintln!("TFRMAP_GOLDEN is not set: only the golden data in the repository is used");
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden")
        }
    }
}

/// The folder of case inputs.
pub fn cases_root() -> PathBuf {
    match std::env::var_os("TFRMAP_CASES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases"),
    }
}

pub fn read_json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// An array of a NumPy archive.
#[derive(Clone, Debug)]
pub struct Array {
    /// NumPy's name of the element type, such as `|u1` and `<f4`.
    pub dtype: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Array {
    /// The values as f32, where the type is u8 or f32.
    pub fn floats(&self) -> Option<Vec<f32>> {
        match self.dtype.as_str() {
            "|u1" => Some(self.bytes.iter().map(|v| f32::from(*v)).collect()),
            "<f4" => Some(self.bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
            _ => None,
        }
    }
}

/// All arrays of an `.npz`, which is a zip of `.npy` files.
pub fn read_npz(path: &Path) -> HashMap<String, Array> {
    let file = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let u16_at = |at: usize| u16::from_le_bytes(file[at..at + 2].try_into().unwrap()) as usize;
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let end = file.windows(4).rposition(|w| w == b"PK\x05\x06").expect("no zip");
    let mut at = u32_at(end + 16);
    let mut arrays = HashMap::new();
    for _ in 0..u16_at(end + 10) {
        assert_eq!(&file[at..at + 4], b"PK\x01\x02");
        let (method, packed, size) = (u16_at(at + 10), u32_at(at + 20), u32_at(at + 24));
        let (name_len, extra, comment, local) =
            (u16_at(at + 28), u16_at(at + 30), u16_at(at + 32), u32_at(at + 42));
        let name = std::str::from_utf8(&file[at + 46..at + 46 + name_len]).unwrap();
        let data = local + 30 + u16_at(local + 26) + u16_at(local + 28);
        let packed = &file[data..data + packed];
        let mut bytes = Vec::with_capacity(size);
        match method {
            0 => bytes.extend_from_slice(packed),
            _ => drop(flate2::read::DeflateDecoder::new(packed).read_to_end(&mut bytes).unwrap()),
        }
        arrays.insert(name.trim_end_matches(".npy").to_owned(), read_npy(&bytes));
        at += 46 + name_len + extra + comment;
    }
    arrays
}

fn read_npy(bytes: &[u8]) -> Array {
    assert!(bytes.starts_with(b"\x93NUMPY\x01"));
    let header_len = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = std::str::from_utf8(&bytes[10..10 + header_len]).unwrap();
    let after = |key: &str| &header[header.find(key).unwrap() + key.len()..];
    let dtype = after("'descr': '").split('\'').next().unwrap().to_owned();
    let shape = after("'shape': (").split(')').next().unwrap();
    let shape = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    Array { dtype, shape, bytes: bytes[10 + header_len..].to_vec() }
}

/// The little-endian bytes of values.
pub fn le_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
