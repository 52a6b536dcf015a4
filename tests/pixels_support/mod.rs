//! Reading the golden data: NumPy archives, JSON, SHA-256.
#![allow(dead_code)]

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

/// SHA-256 in hexadecimal (FIPS 180-4).
pub fn sha256(data: &[u8]) -> String {
    let (mut primes, mut candidate) = (Vec::new(), 2u64);
    while primes.len() < 64 {
        if primes.iter().all(|p| candidate % p != 0) {
            primes.push(candidate);
        }
        candidate += 1;
    }
    // The first 32 bits of the fractional parts of square and cube roots of primes.
    let root = |n: u128, power: u32| {
        let (mut low, mut high) = (0u128, 1 << 40);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(power) <= n { low = middle } else { high = middle }
        }
        low as u32
    };
    let mut h: Vec<u32> = primes[..8].iter().map(|p| root(u128::from(*p) << 64, 2)).collect();
    let k: Vec<u32> = primes.iter().map(|p| root(u128::from(*p) << 96, 3)).collect();

    let mut message = data.to_vec();
    message.push(0x80);
    message.resize(message.len().next_multiple_of(64), 0);
    if message.len() - data.len() < 9 {
        message.resize(message.len() + 64, 0);
    }
    let len = message.len();
    message[len - 8..].copy_from_slice(&(data.len() as u64 * 8).to_be_bytes());
    for block in message.as_chunks::<64>().0 {
        let mut w: Vec<u32> = block.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b)).collect();
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v: [u32; 8] = h.as_slice().try_into().unwrap();
        for i in 0..64 {
            let [a, b, c, d, e, f, g, last] = v;
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = last.wrapping_add(s1).wrapping_add(choice).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            v = [t1.wrapping_add(s0).wrapping_add(majority), a, b, c, d.wrapping_add(t1), e, f, g];
        }
        h.iter_mut().zip(v).for_each(|(h, v)| *h = h.wrapping_add(v));
    }
    h.iter().map(|v| format!("{v:08x}")).collect()
}
