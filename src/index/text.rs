//! The text indexes of DALI's and vahidk's `tfrecord2idx`: a line `"<offset> <frame length>\n"` for each record.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::file::{Access, DataFile};
use crate::frame;

use super::identity::{mismatch, stale};
use super::{Index, format, scan};

/// What it is called in messages.
const TEXT: &str = "the text index";
/// Bytes of a text index looked at; ten million records take 200 MB.
const MAX_TEXT: u64 = 8 << 30;

impl Index {
    /// Makes an index of a text index as DALI's and vahidk's `tfrecord2idx` write it, proven against the data file: each
    /// frame's header is read. Numbers may be separated by any white space (CRLF too).
    ///
    /// # Errors
    /// `IndexFormat` where it is no such text; `IndexCorrupt` where its last line is torn; `StaleIndex` where the file
    /// goes on after the last record; `IndexMismatch` where it belongs to other data, or names only some of the records
    /// or in another order; else what is wrong with the data.
    pub fn from_text(text: &[u8], data: impl AsRef<Path>) -> Result<Index> {
        let data = data.as_ref();
        from_text(text, data).map_err(|error| error.at_path(data))
    }

    /// Writes a text index of the records of these numbers, in this order, as DALI and vahidk read it.
    ///
    /// DALI reads records in the order of the lines, so a permutation shuffles. vahidk expects the order of the file,
    /// and at least two records.
    ///
    /// # Errors
    /// `InvalidArgument` where there is no record of a number; `IndexCorrupt`; `Io`.
    pub fn write_text(&self, mut out: impl Write, records: impl IntoIterator<Item = u64>) -> Result<()> {
        for i in records {
            if i >= self.len() {
                return Err(Error::invalid(format!("there is no record {i}, the file has {}", self.len())));
            }
            let entry = self.entry(i)?;
            writeln!(out, "{} {}", entry.offset, entry.end - entry.offset).map_err(|error| {
                Error::new(ErrorKind::Io(error.kind()), error.to_string()).with_source(error)
            })?;
        }
        Ok(())
    }
}

fn from_text(text: &[u8], data: &Path) -> Result<Index> {
    let lines = parse(text)?;
    let file = DataFile::open(data, Access::Read)?;
    let mut expected = 0;
    for (i, &(offset, len)) in lines.iter().enumerate() {
        if offset != expected {
            let last = i + 1 == lines.len() && !text.ends_with(b"\n");
            return Err(if last { torn() } else { mismatch(TEXT, "it does not name each record in turn") }
                .at_record(i as u64));
        }
        let Some(end) = offset.checked_add(len).filter(|_| len >= frame::OVERHEAD) else {
            return Err(format::corrupt("names a record that is shorter than any").at_record(i as u64));
        };
        expected = end;
    }
    if text.is_empty() && file.len() > 0 {
        return Err(format::corrupt("is empty"));
    }
    if expected > file.len() {
        return Err(mismatch(TEXT, "it names records past the end of the file"));
    }
    let scan = scan::scan(&file, 0, expected, 0, 0)?;
    if let Some(problem) = scan.problem {
        return Err(problem);
    }
    let lens = |frames: &scan::Frames, i: usize| {
        frames.offsets.get(i + 1).unwrap_or(&frames.end) - frames.offsets[i]
    };
    for (i, &(offset, len)) in lines.iter().enumerate() {
        if scan.frames.offsets.get(i) != Some(&offset) || lens(&scan.frames, i) != len {
            let last = i + 1 == lines.len() && !text.ends_with(b"\n");
            return Err(if last {
                torn()
            } else {
                mismatch(TEXT, "a record that it names is not in the file")
            }
            .at_record(i as u64)
            .at_offset(offset));
        }
    }
    if scan.frames.end != file.len() {
        let reason = "the file goes on after the last record that it names";
        return Err(if text.ends_with(b"\n") { stale(TEXT, reason) } else { torn() });
    }
    Ok(Index::from_frames(&scan.frames))
}

/// The pairs of numbers.
fn parse(text: &[u8]) -> Result<Vec<(u64, u64)>> {
    let foreign = || {
        Error::new(ErrorKind::IndexFormat, "is no text index: lines of an offset and a length are expected")
    };
    let text =
        std::str::from_utf8(text).ok().filter(|text| text.len() as u64 <= MAX_TEXT).ok_or_else(foreign)?;
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse::<u64>().map_err(|_| foreign()));
    let mut lines = Vec::new();
    while let Some(offset) = numbers.next().transpose()? {
        let Some(len) = numbers.next().transpose()? else { return Err(torn()) };
        lines.push((offset, len));
    }
    Ok(lines)
}

fn torn() -> Error {
    Error::new(ErrorKind::IndexCorrupt, "the last line of the text index is torn")
        .with_help("write it again: `tfr-index export`, or the tool that it came from")
}
