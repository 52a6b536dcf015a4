//! NumPy's `.npz`: a zip of stored `.npy` entries. The same arrays give the same bytes: no times, no compression.
//!
//! Layouts: NumPy's `numpy.lib.format` (version 1.0, or 2.0 for a long header) and PKWARE's APPNOTE for zip, with
//! the Zip64 fields wherever a size or an offset needs them.

use std::io::{self, Write};

/// Writes arrays one after another into one `.npz`.
pub struct NpzWriter<W: Write> {
    out: W,
    offset: u64,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

/// The largest size that the short fields hold; the value itself says "see the Zip64 field".
const ZIP64: u64 = 0xFFFF_FFFF;
/// 1980-01-01, the first day that zip knows.
const DATE: u16 = 0x0021;
/// Names are UTF-8.
const FLAGS: u16 = 0x0800;

impl<W: Write> NpzWriter<W> {
    /// An empty archive.
    pub fn new(out: W) -> NpzWriter<W> {
        NpzWriter { out, offset: 0, entries: Vec::new() }
    }

    /// Adds an array under a name: its type as NumPy's `descr` (`<f4`), its shape, and its bytes in C order.
    pub fn array(&mut self, name: &str, descr: &str, shape: &[usize], data: &[u8]) -> io::Result<()> {
        if name.len() > 65_000 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a key is too long for the name of a zip entry",
            ));
        }
        let header = npy_header(descr, shape);
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header);
        crc.update(data);
        let entry = Entry {
            name: format!("{name}.npy"),
            crc: crc.finalize(),
            size: (header.len() + data.len()) as u64,
            offset: self.offset,
        };
        let mut local = Vec::new();
        put32(&mut local, 0x0403_4b50);
        let big = entry.size >= ZIP64;
        entry.common(&mut local, big);
        put16(&mut local, entry.name.len() as u16);
        put16(&mut local, if big { 20 } else { 0 });
        local.extend_from_slice(entry.name.as_bytes());
        if big {
            put16(&mut local, 1);
            put16(&mut local, 16);
            put64(&mut local, entry.size);
            put64(&mut local, entry.size);
        }
        for part in [&local[..], &header, data] {
            self.out.write_all(part)?;
            self.offset += part.len() as u64;
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the directory and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        let start = self.offset;
        let mut end = Vec::new();
        for entry in &self.entries {
            entry.central(&mut end);
        }
        let size = end.len() as u64;
        let count = self.entries.len() as u64;
        if start >= ZIP64 || size >= ZIP64 || count >= 0xFFFF {
            let record = start + size;
            put32(&mut end, 0x0606_4b50);
            put64(&mut end, 44);
            put16(&mut end, 45);
            put16(&mut end, 45);
            put32(&mut end, 0);
            put32(&mut end, 0);
            put64(&mut end, count);
            put64(&mut end, count);
            put64(&mut end, size);
            put64(&mut end, start);
            put32(&mut end, 0x0706_4b50);
            put32(&mut end, 0);
            put64(&mut end, record);
            put32(&mut end, 1);
        }
        put32(&mut end, 0x0605_4b50);
        put16(&mut end, 0);
        put16(&mut end, 0);
        put16(&mut end, count.min(0xFFFF) as u16);
        put16(&mut end, count.min(0xFFFF) as u16);
        put32(&mut end, size.min(ZIP64) as u32);
        put32(&mut end, start.min(ZIP64) as u32);
        put16(&mut end, 0);
        self.out.write_all(&end)?;
        Ok(self.out)
    }
}

impl Entry {
    /// The fields from "version needed" to "uncompressed size", equal in both headers.
    fn common(&self, out: &mut Vec<u8>, big: bool) {
        put16(out, if big { 45 } else { 20 });
        put16(out, FLAGS);
        put16(out, 0);
        put16(out, 0);
        put16(out, DATE);
        put32(out, self.crc);
        put32(out, if big { ZIP64 as u32 } else { self.size as u32 });
        put32(out, if big { ZIP64 as u32 } else { self.size as u32 });
    }

    fn central(&self, out: &mut Vec<u8>) {
        let big_size = self.size >= ZIP64;
        let big_offset = self.offset >= ZIP64;
        let extra = 16 * u16::from(big_size) + 8 * u16::from(big_offset);
        put32(out, 0x0201_4b50);
        put16(out, 45);
        self.common(out, big_size);
        put16(out, self.name.len() as u16);
        put16(out, if extra > 0 { extra + 4 } else { 0 });
        put16(out, 0);
        put16(out, 0);
        put16(out, 0);
        put32(out, 0);
        put32(out, self.offset.min(ZIP64) as u32);
        out.extend_from_slice(self.name.as_bytes());
        if extra > 0 {
            put16(out, 1);
            put16(out, extra);
        }
        if big_size {
            put64(out, self.size);
            put64(out, self.size);
        }
        if big_offset {
            put64(out, self.offset);
        }
    }
}

/// The header of an `.npy`, padded so that the data begins at a multiple of 64.
fn npy_header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let mut sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    sizes.truncate(sizes.len().saturating_sub(if shape.len() == 1 { 1 } else { 2 }));
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // magic 6, version 2, length 2 or 4, text, newline
    let short = (10 + dict.len() + 1).next_multiple_of(64);
    let long = short - 10 > usize::from(u16::MAX);
    let prefix = if long { 12 } else { 10 };
    let total = (prefix + dict.len() + 1).next_multiple_of(64);
    let mut header = b"\x93NUMPY".to_vec();
    header.extend_from_slice(if long { &[2, 0] } else { &[1, 0] });
    if long {
        put32(&mut header, (total - prefix) as u32);
    } else {
        put16(&mut header, (total - prefix) as u16);
    }
    header.extend_from_slice(dict.as_bytes());
    header.resize(total - 1, b' ');
    header.push(b'\n');
    header
}

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_read_as_python_tuples() {
        let text = |shape: &[usize]| String::from_utf8_lossy(&npy_header("<f4", shape)[10..]).into_owned();
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[3]).contains("'shape': (3,), }"));
        assert!(text(&[10, 224, 224, 3]).contains("'shape': (10, 224, 224, 3), }"));
    }

    #[test]
    fn data_begins_at_a_multiple_of_64() {
        for rank in 0..40 {
            let header = npy_header("|u1", &vec![12345; rank]);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(header.last(), Some(&b'\n'));
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
        }
    }

    #[test]
    fn an_archive_is_the_same_each_time_and_well_formed() {
        let make = || {
            let mut npz = NpzWriter::new(Vec::new());
            npz.array("a/b", "<i8", &[2], &[0; 16]).unwrap();
            npz.array("empty", "|u1", &[0], &[]).unwrap();
            npz.finish().unwrap()
        };
        let bytes = make();
        assert_eq!(bytes, make());
        assert_eq!(&bytes[..4], b"PK\x03\x04");
        assert_eq!(&bytes[bytes.len() - 22..bytes.len() - 18], b"PK\x05\x06");
    }
}
