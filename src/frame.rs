//! One TFRecord frame: `length: u64 LE, masked CRC of the length: u32 LE, payload, masked CRC of the payload: u32 LE`.
//!
//! Pure arithmetic on bytes that are already in memory. A length is believed only when its CRC holds, and used only
//! after it has been checked against the end of the file.

use crate::crc;
use crate::error::{Error, ErrorKind, FramePart, Result};

/// Bytes of a frame before the payload.
pub(crate) const HEADER_LEN: usize = 12;
/// Bytes of a frame after the payload.
pub(crate) const FOOTER_LEN: usize = 4;
/// Bytes of a frame that are not payload.
pub(crate) const OVERHEAD: u64 = (HEADER_LEN + FOOTER_LEN) as u64;

/// The length a header claims, or `None` where its CRC does not hold.
///
/// `header` is at least [`HEADER_LEN`] bytes long; a shorter one is `None` too.
#[inline]
pub(crate) fn parse_header(header: &[u8]) -> Option<u64> {
    let header: &[u8; HEADER_LEN] = header.first_chunk()?;
    let length = header.first_chunk().copied().map_or(0, u64::from_le_bytes);
    let stored = header.last_chunk().copied().map_or(0, u32::from_le_bytes);
    (crc::masked_length(length) == stored).then_some(length)
}

/// The header of a payload of `len` bytes.
pub(crate) fn header(len: u64) -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    header[..8].copy_from_slice(&len.to_le_bytes());
    header[8..].copy_from_slice(&crc::masked_length(len).to_le_bytes());
    header
}

/// The offset just after the frame at `offset` that claims `payload_len` bytes in a file of `file_len` bytes.
///
/// # Errors
/// `LengthPastEnd` where the claim exceeds the whole file, `Truncated` where it only exceeds what is left; both carry
/// the offset. `offset + HEADER_LEN <= file_len` must hold.
#[inline]
pub(crate) fn end(offset: u64, payload_len: u64, file_len: u64) -> Result<u64> {
    let left = file_len - offset;
    match payload_len.checked_add(OVERHEAD) {
        Some(frame) if frame <= left => Ok(offset + frame),
        _ => Err(past_end(offset, payload_len, file_len)),
    }
}

#[cold]
fn past_end(offset: u64, payload_len: u64, file_len: u64) -> Error {
    if payload_len > file_len {
        let reason = format!("the length claims {payload_len} bytes in a file of {file_len}");
        return Error::new(ErrorKind::LengthPastEnd { claimed: payload_len }, reason)
            .at_offset(offset)
            .with_help(
                "the records before it are whole; `tfr-index copy --skip-bad` finds those after it too",
            );
    }
    cut_body(offset, payload_len, file_len - offset - HEADER_LEN as u64)
}

/// The error for a frame of which only `have` bytes after the header exist.
pub(crate) fn cut_body(offset: u64, payload_len: u64, have: u64) -> Error {
    let missing = payload_len.saturating_add(FOOTER_LEN as u64) - have;
    let part = if have < payload_len { FramePart::Data } else { FramePart::DataCrc };
    truncated(offset, part, missing)
}

/// The error for a header of which only `have` bytes (1 to 11) exist.
pub(crate) fn cut_header(offset: u64, have: u64) -> Error {
    let part = if have < 8 { FramePart::Length } else { FramePart::LengthCrc };
    truncated(offset, part, HEADER_LEN as u64 - have)
}

fn truncated(offset: u64, part: FramePart, missing: u64) -> Error {
    let reason = format!("the file ends inside the record's {}, {missing} bytes are missing", part.name());
    Error::new(ErrorKind::Truncated { part, missing }, reason)
        .at_offset(offset)
        .with_help("the records before it are whole: keep them with `tfr-index copy --skip-bad`")
}

/// The error for a payload that does not match its CRC.
#[cold]
pub(crate) fn corrupt_data(offset: u64) -> Error {
    Error::new(ErrorKind::CorruptData, "the payload does not match its CRC")
        .at_offset(offset)
        .with_help("`tfr-index copy --skip-bad` leaves it out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trip() {
        for len in [0, 1, 5, 1 << 40, u64::MAX] {
            assert_eq!(parse_header(&header(len)), Some(len));
        }
        assert_eq!(parse_header(&[0; 12]), None);
        assert_eq!(parse_header(&header(5)[..11]), None);
    }

    #[test]
    fn ends_are_checked() {
        let kind = |offset, len, file| end(offset, len, file).unwrap_err().kind().clone();
        assert_eq!(end(10, 4, 30).unwrap(), 30);
        assert_eq!(kind(10, 5, 30), ErrorKind::Truncated { part: FramePart::DataCrc, missing: 1 });
        assert_eq!(kind(10, 9, 30), ErrorKind::Truncated { part: FramePart::Data, missing: 5 });
        assert_eq!(kind(10, 30, 30), ErrorKind::Truncated { part: FramePart::Data, missing: 26 });
        assert_eq!(kind(10, 31, 30), ErrorKind::LengthPastEnd { claimed: 31 });
        for claimed in [u64::MAX, u64::MAX - 15, u64::MAX - 16, 1 << 62] {
            assert_eq!(kind(10, claimed, 30), ErrorKind::LengthPastEnd { claimed });
        }
    }
}
