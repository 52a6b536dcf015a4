//! Proves that an index and a data file belong together, and names the reason where they do not.

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::file::DataFile;
use crate::frame::{self, FOOTER_LEN, HEADER_LEN};

use super::{Entry, Index, format};

const REBUILD: &str = "if the data is as it should be, write the index again with `tfr-index build`";

/// The error for data that was replaced or grew after it was indexed; `index` is what the index is called.
pub(crate) fn stale(index: &str, reason: &str) -> Error {
    Error::new(ErrorKind::StaleIndex, format!("{index} is out of date: {reason}")).with_help(REBUILD)
}

/// The error for an index that belongs to other data; `index` is what the index is called.
pub(crate) fn mismatch(index: &str, reason: &str) -> Error {
    Error::new(ErrorKind::IndexMismatch, format!("{index} does not fit this file: {reason}"))
        .with_help(format!("{REBUILD}; where files of one name share an index folder, give each its own"))
}

/// Checks the data file's length against the index.
///
/// # Errors
/// `StaleIndex` where the file is longer and the indexed frames hold; `IndexMismatch` otherwise.
pub(crate) fn check_len(index: &Index, data: &DataFile) -> Result<()> {
    let (now, then) = (data.len(), index.data_len());
    if now == then {
        return Ok(());
    }
    if now < then {
        let reason = format!("the file has {now} bytes, the one that was indexed had {then}");
        return Err(mismatch(&index.name(), &reason));
    }
    check_ends(index, data)?;
    Err(stale(&index.name(), &format!("the file grew from {then} to {now} bytes")))
}

/// Checks the first and the last frame's headers and footers, and that the frames cover the file.
///
/// # Errors
/// `IndexMismatch`, `StaleIndex` or `CorruptData` as for a read; `IndexCorrupt` where the index fails its own checksum.
pub(crate) fn check_ends(index: &Index, data: &DataFile) -> Result<()> {
    let Some(last) = index.len().checked_sub(1) else { return Ok(()) };
    let covers = index.entry(0)?.offset == 0 && index.entry(last)?.end == index.data_len();
    if !covers {
        return Err(format::corrupt("does not cover the file"));
    }
    check_frame(index, data, 0)?;
    if last > 0 {
        check_frame(index, data, last)?;
    }
    Ok(())
}

/// Checks one frame's header and footer against the index, without its payload where they agree.
pub(crate) fn check_frame(index: &Index, data: &DataFile, i: u64) -> Result<()> {
    let entry = index.entry(i)?;
    let (mut header, mut footer) = ([0; HEADER_LEN], [0; FOOTER_LEN]);
    let at = |error: Error| error.at_record(i).at_offset(entry.offset);
    if entry.end > data.len() {
        return Err(at(mismatch(&index.name(), "the file ends before the indexed record")));
    }
    data.read_at(&mut header, entry.offset).map_err(at)?;
    data.read_at(&mut footer, entry.end - FOOTER_LEN as u64).map_err(at)?;
    if header_agrees(&header, entry) && u32::from_le_bytes(footer) == entry.crc {
        return Ok(());
    }
    Err(at(explain(index, data, entry, &header, u32::from_le_bytes(footer))))
}

/// True where a header is the one of the indexed frame.
#[inline]
pub(crate) fn header_agrees(header: &[u8], entry: Entry) -> bool {
    frame::parse_header(header) == Some(entry.end - entry.offset - frame::OVERHEAD)
}

/// The error for a frame whose header or footer is not as indexed: reads its payload to tell which.
#[cold]
fn explain(index: &Index, data: &DataFile, entry: Entry, header: &[u8], footer: u32) -> Error {
    if !header_agrees(header, entry) {
        return blame(index, None);
    }
    let mut crc = 0;
    let (mut at, end) = (entry.offset + HEADER_LEN as u64, entry.end - FOOTER_LEN as u64);
    let mut block = vec![0; (end - at).min(1 << 18) as usize];
    while at < end {
        let len = (end - at).min(block.len() as u64) as usize;
        if let Err(error) = data.read_at(&mut block[..len], at) {
            return error;
        }
        crc = crc::append(crc, &block[..len]);
        at += len as u64;
    }
    blame(index, Some(Crcs { payload: crc::mask(crc), footer, indexed: entry.crc }))
}

/// The three masked CRCs of one record, not all equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crcs {
    pub(crate) payload: u32,
    pub(crate) footer: u32,
    pub(crate) indexed: u32,
}

/// The error for a frame that is not as indexed; `crcs` is `None` where already the header is another.
///
/// The table of `docs/index-format.md`. Where the data is not plainly at fault, the index checks itself first.
#[cold]
pub(crate) fn blame(index: &Index, crcs: Option<Crcs>) -> Error {
    let data_error = |reason| Error::new(ErrorKind::CorruptData, reason);
    match crcs {
        Some(Crcs { footer, indexed, .. }) if footer == indexed => {
            return data_error("the payload does not match its CRC");
        }
        Some(Crcs { payload, indexed, .. }) if payload == indexed => {
            return data_error("the payload is as indexed, but the CRC after it is not");
        }
        _ => {}
    }
    if let Err(error) = index.check_body() {
        return error;
    }
    match crcs {
        Some(Crcs { payload, footer, .. }) if payload == footer => {
            stale(&index.name(), "the record is whole, but not the one that was indexed")
        }
        Some(_) => mismatch(&index.name(), "neither the payload nor the CRC after it is as indexed"),
        None => mismatch(
            &index.name(),
            "no record of the indexed length is at this place, or its header is damaged",
        ),
    }
}
