//! What bytes are when they are not TFRecord: a compressed stream, or another format by name.
//!
//! Asked only after a frame's length CRC has failed: plenty of good TFRecord files begin with somebody's magic number.

use ::flate2::{Decompress, FlushDecompress, Status};

/// What some bytes seem to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A gzip stream.
    Gzip,
    /// A zlib stream.
    Zlib,
    /// Another compressed format, by name.
    Compressed(&'static str),
    /// Nothing but zero bytes.
    Zeros,
    /// Something else, by name.
    Other(&'static str),
}

/// How many bytes from the start [`content`] likes to see.
pub(crate) const SNIFF_LEN: usize = 512;

/// Compressed formats beside gzip and zlib.
const COMPRESSED: &[(&[u8], &str)] = &[
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xff\x06\0\0sNaPpY", "snappy"),
    (b"\x1f\x9d", "compress"),
];

/// Formats that people have found under a TFRecord's name. The first that fits wins.
const OTHER: &[(&[u8], &str)] = &[
    (b"version https://git-lfs", "Git LFS pointer"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"Rar!\x1a\x07", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f", "Riegeli (ArrayRecord)"),
    (b"\x0a\x23\xd7\xce", "MXNet RecordIO"),
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"\x93NUMPY", "NumPy array"),
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"Obj\x01", "Avro"),
    (b"SQLite format 3\0", "SQLite"),
    (b"SEQ\x06", "Hadoop sequence file"),
    (b"ORC", "ORC"),
    (b"\x89PNG\r\n\x1a\n", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"GIF8", "GIF picture"),
    (b"RIFF", "RIFF (WebP, WAV)"),
    (b"%PDF", "PDF"),
    (b"\x7fELF", "ELF program"),
    (b"\x80\x02", "Python pickle"),
    (b"\x80\x03", "Python pickle"),
    (b"\x80\x04\x95", "Python pickle"),
    (b"\x80\x05\x95", "Python pickle"),
    (b"\x89TFRI\r\n\n", "tfrmap index"),
];

/// Beginnings of text formats, compared without regard to case after leading white space.
const TEXT: &[(&[u8], &str)] =
    &[(b"<!doctype html", "HTML page"), (b"<html", "HTML page"), (b"<?xml", "XML"), (b"<", "HTML or XML")];

/// What the first bytes of a file say it is, or `None` where they say nothing.
///
/// `head` is the file's beginning, [`SNIFF_LEN`] bytes or more where the file is that long. Fewer than eight bytes
/// say nothing: they could be the beginning of a length. (Eight can be a whole zlib stream, of no data.)
pub(crate) fn content(head: &[u8]) -> Option<Content> {
    if head.len() > 8 && head.iter().all(|&byte| byte == 0) {
        return Some(Content::Zeros);
    }
    if head.len() >= 12 {
        if head.starts_with(b"\x1f\x8b\x08") && head[3] & 0xe0 == 0 {
            return Some(Content::Gzip);
        }
        if is_zlib(head) {
            return Some(Content::Zlib);
        }
        if let Some((_, name)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Some(Content::Compressed(name));
        }
        if let Some((_, name)) = OTHER.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Some(Content::Other(name));
        }
        // A frame that begins so would claim over 4 GiB.
        if head.starts_with(b"\xdd\x04\0\0") && head[4..8] != [0; 4] {
            return Some(Content::Other("RecordIO"));
        }
        if head.get(257..262) == Some(b"ustar") {
            return Some(Content::Other("tar"));
        }
    }
    if head.len() < 12 && is_whole_zlib(head) {
        return Some(Content::Zlib);
    }
    text(head).map(Content::Other)
}

/// A zlib header alone is two bytes and easily met by chance, so a little must inflate too.
fn is_zlib(head: &[u8]) -> bool {
    let (cmf, flags) = (head[0], head[1]);
    let header = cmf & 0x0f == 8 && cmf >> 4 <= 7 && (u16::from(cmf) << 8 | u16::from(flags)) % 31 == 0;
    if !header || flags & 0x20 != 0 {
        return false;
    }
    // Without the container, so that a stream that is damaged later still is one.
    let mut inflater = Decompress::new(false);
    inflater.decompress(&head[2..], &mut [0; 1024], FlushDecompress::None).is_ok() || inflater.total_out() > 0
}

fn is_whole_zlib(all: &[u8]) -> bool {
    let status = Decompress::new(true).decompress(all, &mut [0; 64], FlushDecompress::None);
    matches!(status, Ok(Status::StreamEnd))
}

/// Text has no control characters. Eight bytes of it would be a length above 2^60, so it is no frame.
fn text(head: &[u8]) -> Option<&'static str> {
    if head.len() < 8 {
        return None;
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return head[2..].chunks_exact(2).all(|pair| pair.contains(&0)).then_some("UTF-16 text");
    }
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character cut at the end of what we look at is no fault of the text.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    if valid.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b')) {
        return None;
    }
    let start = valid.trim_start_matches('\u{feff}').trim_start();
    let starts = |magic: &[u8]| {
        start.as_bytes().get(..magic.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(magic))
    };
    if let Some((magic, name)) = OTHER.iter().find(|(magic, _)| starts(magic)) {
        debug_assert!(!magic.is_empty());
        return Some(name);
    }
    if let Some((_, name)) = TEXT.iter().find(|(magic, _)| starts(magic)) {
        return Some(name);
    }
    Some(if start.starts_with(['{', '[']) { "JSON text" } else { "text" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_container_of_another_kind_is_named_and_a_frame_of_that_length_is_not() {
        assert_eq!(
            content(b"\xdd\x04\0\0\x4d\xe1\xe9\x67\xd3\x3b\x33\xb4"),
            Some(Content::Other("RecordIO"))
        );
        assert_eq!(content(b"\xdd\x04\0\0\0\0\0\0\xd3\x3b\x33\xb4"), None);
    }
}
