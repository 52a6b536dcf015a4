#![doc = include_str!("../../docs/index-format.md")]

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::frame;

/// The first eight bytes of every sidecar. No text and no TFRecord begins so.
pub(crate) const MAGIC: [u8; 8] = *b"\x89TFRI\r\n\n";

/// The version written. Readers accept exactly the versions 1 to this one; a newer one is
/// [`ErrorKind::IndexVersion`]: update tfrmap, or delete the sidecar and let it be built again.
pub(crate) const VERSION: u32 = 1;

/// Bytes before the first offset.
pub(crate) const HEADER_LEN: usize = 40;

/// The fixed header, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The number of records.
    pub(crate) count: u64,
    /// The length of the data file that was indexed.
    pub(crate) data_len: u64,
}

impl Header {
    /// Reads the header from the beginning of a sidecar, and checks the length of the whole.
    ///
    /// # Errors
    /// `IndexCorrupt`, `IndexVersion`, or `IndexFormat` where it is a text index of another tool.
    pub(crate) fn parse(head: &[u8], file_len: u64) -> Result<Header> {
        let Some((header, magic)) = head.first_chunk::<HEADER_LEN>().zip(head.get(..8)) else {
            return Err(if looks_like_text_index(head) { foreign() } else { corrupt("is cut short") });
        };
        if magic != MAGIC {
            let text = looks_like_text_index(head);
            return Err(if text { foreign() } else { corrupt("does not begin as one") });
        }
        let version = read_u32(header, 8);
        if version > VERSION {
            let reason = format!("the index is of version {version}, this tfrmap knows up to {VERSION}");
            return Err(Error::new(ErrorKind::IndexVersion, reason)
                .with_help("update tfrmap, or write it again with `tfr-index build --force`"));
        }
        if crc::crc32c(&header[..36]) != read_u32(header, 36) {
            return Err(corrupt("has a damaged header"));
        }
        if version == 0 || read_u32(header, 12) != 0 || read_u32(header, 32) != 0 {
            return Err(corrupt("has a header that no version writes"));
        }
        let header = Header { count: read_u64(header, 16), data_len: read_u64(header, 24) };
        // Frames cover the data, and none is shorter than this.
        let least = header.count.checked_mul(frame::OVERHEAD);
        if least.is_none_or(|least| least > header.data_len) || header.count == 0 && header.data_len != 0 {
            return Err(corrupt("has a count that does not fit the data"));
        }
        if header.file_len() != Some(file_len) {
            return Err(corrupt("has another length than its header says"));
        }
        Ok(header)
    }

    /// The header as bytes.
    pub(crate) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.count.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.data_len.to_le_bytes());
        let crc = crc::crc32c(&bytes[..36]);
        bytes[36..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Where the CRCs begin, or `None` where the count is absurd.
    pub(crate) fn crcs_at(&self) -> Option<u64> {
        self.count.checked_add(1)?.checked_mul(8)?.checked_add(HEADER_LEN as u64)
    }

    /// Where the checksum of the body stands, or `None` where the count is absurd.
    pub(crate) fn checksum_at(&self) -> Option<u64> {
        self.crcs_at()?.checked_add(self.count.checked_mul(4)?)
    }

    fn file_len(&self) -> Option<u64> {
        self.checksum_at()?.checked_add(4)
    }
}

/// A whole sidecar as bytes, for frames that begin at `offsets`, have the footers `crcs`, and end at `end`.
pub(crate) fn encode(offsets: &[u64], crcs: &[u32], end: u64) -> Vec<u8> {
    let header = Header { count: offsets.len() as u64, data_len: end };
    let mut bytes = Vec::with_capacity(HEADER_LEN + 8 * (offsets.len() + 1) + 4 * crcs.len() + 4);
    bytes.extend_from_slice(&header.encode());
    offsets.iter().chain([&end]).for_each(|offset| bytes.extend_from_slice(&offset.to_le_bytes()));
    crcs.iter().for_each(|crc| bytes.extend_from_slice(&crc.to_le_bytes()));
    let checksum = crc::crc32c(&bytes[HEADER_LEN..]);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The `u32` at a position that is known to be inside.
#[inline]
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().copied().map_or(0, u32::from_le_bytes)
}

/// The `u64` at a position that is known to be inside.
#[inline]
pub(crate) fn read_u64(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().copied().map_or(0, u64::from_le_bytes)
}

/// The error for a sidecar that is damaged.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::new(ErrorKind::IndexCorrupt, format!("the index {what}"))
        .with_help("write it again with `tfr-index build --force`")
}

fn foreign() -> Error {
    Error::new(ErrorKind::IndexFormat, "is a text index as DALI's and vahidk's tfrecord2idx write it")
        .with_help("import it, or write tfrmap's own with `tfr-index build --force`")
}

fn looks_like_text_index(head: &[u8]) -> bool {
    let known = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    head.first().is_some_and(u8::is_ascii_digit) && head.iter().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any head at all: every cut, every flipped byte, and numbers at their ends.
    #[test]
    fn a_header_is_what_was_written_or_refused() {
        let whole = encode(&[0, 20, 50], &[1, 2, 3], 99);
        let len = whole.len() as u64;
        assert_eq!(Header::parse(&whole, len).unwrap(), Header { count: 3, data_len: 99 });
        for cut in 0..HEADER_LEN {
            assert!(Header::parse(&whole[..cut], len).is_err(), "{cut}");
        }
        for at in 0..HEADER_LEN {
            let mut head = whole.clone();
            head[at] ^= 0x80;
            assert!(Header::parse(&head, len).is_err(), "{at}");
        }
        let ends = [0, 1, 3, u64::MAX / 16, u64::MAX / 12, u64::MAX / 8, u64::MAX - 1, u64::MAX];
        for (count, data_len) in ends.iter().flat_map(|count| ends.map(|data_len| (*count, data_len))) {
            let header = Header { count, data_len };
            for file_len in ends.into_iter().chain(header.file_len()) {
                let parsed = Header::parse(&header.encode(), file_len);
                let fits =
                    header.file_len() == Some(file_len) && u128::from(count) * 16 <= u128::from(data_len);
                assert_eq!(parsed.is_ok(), fits && (count > 0 || data_len == 0), "{header:?} {file_len}");
            }
        }
    }
}
