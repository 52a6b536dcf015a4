//! Names what is wrong at a place where a frame should begin.

use std::io;

use crate::error::{Error, ErrorKind, Result};
use crate::file::DataFile;
use crate::frame;
use crate::sniff::{self, Content};

/// The error for the frame at `offset < file.len()`, which cannot be walked over.
///
/// Reads the header again, and where it is zero the rest of the file, to tell a torn frame from zero fill.
pub(crate) fn diagnose(file: &DataFile, offset: u64) -> Error {
    try_diagnose(file, offset).unwrap_or_else(|error| error)
}

fn try_diagnose(file: &DataFile, offset: u64) -> Result<Error> {
    let left = file.len() - offset;
    let mut head = vec![0; left.min(sniff::SNIFF_LEN as u64) as usize];
    file.read_at(&mut head, offset)?;
    if let Some(len) = frame::parse_header(&head) {
        return Ok(match frame::end(offset, len, file.len()) {
            Err(error) => error,
            // It can be walked over after all: somebody wrote to the file between two looks.
            Ok(_) => {
                Error::new(ErrorKind::SourceChanged, "the file changed while it was read").at_offset(offset)
            }
        });
    }
    Ok(bad_header(offset, &head, || zeros_to_end(file, offset)))
}

/// The error for a header whose CRC fails (or which is cut), of which the bytes from `offset` on begin with `head`.
///
/// `all_zero` is asked only where `head` is zero: is everything up to the end?
pub(crate) fn bad_header(offset: u64, head: &[u8], all_zero: impl FnOnce() -> bool) -> Error {
    let first = offset == 0;
    let error = match sniff::content(head) {
        Some(Content::Zeros) if all_zero() => {
            if first {
                not_tfrecord("zero bytes")
            } else {
                Error::new(ErrorKind::TrailingBytes, "nothing but zero bytes from here to the end")
                    .with_help("the records before are whole: keep them with `tfr-index copy --skip-bad`")
            }
        }
        Some(Content::Gzip) if first => compressed("gzip"),
        Some(Content::Zlib) if first => compressed("zlib"),
        Some(Content::Compressed(format)) if first => compressed(format),
        Some(Content::Other(hint)) if first => not_tfrecord(hint),
        Some(Content::Gzip) => trailing("a gzip stream"),
        Some(Content::Other(hint)) => trailing(hint),
        _ if head.len() < frame::HEADER_LEN => frame::cut_header(offset, head.len() as u64),
        _ => {
            let error = Error::new(ErrorKind::CorruptLength, "the length does not match its CRC");
            error.with_help(if first {
                "is this a TFRecord file? `tfr-index copy --skip-bad` keeps whole records, if there are any"
            } else {
                "the records before it are whole; `tfr-index copy --skip-bad` finds those after it too"
            })
        }
    };
    error.at_offset(offset)
}

fn compressed(format: &'static str) -> Error {
    let reason = format!("the file is compressed with {format}, records in it cannot be reached at random");
    let error = Error::new(ErrorKind::Compressed { format }, reason);
    match format {
        "gzip" | "zlib" => error.with_help("rewrite it with `tfr-index copy FILE --out PREFIX`"),
        _ => error.with_help("decompress it first: this format is not supported"),
    }
}

fn not_tfrecord(hint: &'static str) -> Error {
    let error = Error::new(ErrorKind::NotTfrecord { hint }, format!("this is no TFRecord file but {hint}"));
    match hint {
        "Git LFS pointer" => error.with_help("fetch the data with `git lfs pull`"),
        _ => error,
    }
}

fn trailing(hint: &'static str) -> Error {
    Error::new(ErrorKind::TrailingBytes, format!("the bytes after the last record are no record but {hint}"))
        .with_help("the records before are whole: keep them with `tfr-index copy --skip-bad`")
}

fn zeros_to_end(file: &DataFile, mut offset: u64) -> bool {
    let mut block = vec![0; 1 << 18];
    while offset < file.len() {
        let len = (file.len() - offset).min(block.len() as u64) as usize;
        if file.read_at(&mut block[..len], offset).is_err() || block[..len].iter().any(|&byte| byte != 0) {
            return false;
        }
        offset += len as u64;
    }
    true
}

/// True where the rest of a stream is nothing but zero bytes. Reads it all, in bounded memory.
pub(crate) fn zeros_to_eof(mut rest: impl io::Read) -> bool {
    let mut block = vec![0; 1 << 16];
    loop {
        match rest.read(&mut block) {
            Ok(0) => return true,
            Ok(n) if block[..n].iter().all(|&byte| byte == 0) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
}
