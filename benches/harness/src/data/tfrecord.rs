//! Frames and `Example` messages, written by the harness itself: the data must not come from the library that is measured.

use std::io::{self, Write};

/// Writes one frame: length, its masked CRC32C, payload, its masked CRC32C.
pub fn write_record(file: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    let length = (payload.len() as u64).to_le_bytes();
    file.write_all(&length)?;
    file.write_all(&masked_crc(&length))?;
    file.write_all(payload)?;
    file.write_all(&masked_crc(payload))
}

fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

/// An `Example` of encoded map entries.
pub fn example(features: &[Vec<u8>]) -> Vec<u8> {
    let entries: Vec<u8> = features.iter().flat_map(|entry| field(1, entry)).collect();
    field(1, &entries)
}

/// A bytes feature.
pub fn bytes(key: &str, value: &[u8]) -> Vec<u8> {
    entry(key, &field(1, &field(1, value)))
}

/// A float feature (packed).
pub fn floats(key: &str, values: &[f32]) -> Vec<u8> {
    let packed: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    entry(key, &field(2, &field(1, &packed)))
}

/// An int64 feature of one value.
pub fn int64(key: &str, value: i64) -> Vec<u8> {
    entry(key, &field(3, &field(1, &varint(value as u64))))
}

fn entry(key: &str, feature: &[u8]) -> Vec<u8> {
    [field(1, key.as_bytes()), field(2, feature)].concat()
}

/// A length-delimited protobuf field.
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    [&varint((number << 3) | 2)[..], &varint(content.len() as u64), content].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(10);
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}
