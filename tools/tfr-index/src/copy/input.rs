//! One input file, by its state: indexed, compressed, or damaged.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tfrmap::{Error, ErrorKind, OpenOptions, RecordReader, Salvage, Salvaged, Store};

use crate::failure::{Failure, Result};
use crate::input::file_len;
use crate::problem::Problem;

/// A file to copy from.
pub struct Input {
    /// Its path.
    pub path: PathBuf,
    /// How it is read.
    pub kind: Kind,
    /// Its length in bytes.
    pub bytes: u64,
    /// The number of its records, good and bad, where it is known.
    pub len: Option<u64>,
}

/// How a file is read.
pub enum Kind {
    /// Any record at once.
    Plain(Store),
    /// From front to back, inflating it.
    Inflated,
    /// From front to back, searching for whole records.
    Damaged,
}

/// What a walk from front to back comes upon.
pub enum Found<'a> {
    /// A whole record: its number in the file and its payload.
    Record(u64, &'a [u8]),
    /// A record, or a stretch of the file, that is lost.
    Lost(Problem),
    /// A frame inside a lost stretch, at this offset: perhaps a record, perhaps a part of one.
    Unproven(u64),
}

impl Input {
    /// Opens a file. With `salvage` a damaged one too, whatever its sidecar says.
    pub fn open(path: &Path, options: &OpenOptions, salvage: bool) -> Result<Input> {
        let kind = if salvage { kind_of_damaged(path, options)? } else { kind(path, options)? };
        let len = match &kind {
            Kind::Plain(store) => Some(store.len()),
            _ => None,
        };
        Ok(Input { path: path.to_owned(), kind, bytes: file_len(path), len })
    }

    /// Walks a file that is not [`Kind::Plain`] from front to back. Without `salvage` the first problem is a failure.
    /// `visit` says whether to go on.
    pub fn walk(&self, salvage: bool, mut visit: impl FnMut(Found<'_>) -> bool) -> Result<()> {
        match &self.kind {
            Kind::Plain(_) => Err(Failure::usage("a file that can be read at random is not walked")),
            Kind::Inflated => self.inflate(salvage, &mut visit),
            Kind::Damaged => self.search(&mut visit),
        }
    }

    fn inflate(&self, salvage: bool, visit: &mut dyn FnMut(Found<'_>) -> bool) -> Result<()> {
        let mut reader = RecordReader::open(&self.path)?;
        let mut payload = Vec::new();
        loop {
            let number = reader.record();
            match reader.read_into(&mut payload) {
                Ok(false) => return Ok(()),
                Ok(true) => {
                    if !visit(Found::Record(number, &payload)) {
                        return Ok(());
                    }
                }
                Err(error) if salvage && !error.is_io() => {
                    let ends = reader.record() == number;
                    if !visit(Found::Lost(lost_in_stream(&self.path, &error, ends))) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn search(&self, visit: &mut dyn FnMut(Found<'_>) -> bool) -> Result<()> {
        let mut salvage = Salvage::open(&self.path)?;
        let mut payload = Vec::new();
        let mut number = 0;
        while let Some(part) = salvage.next().transpose()? {
            let go_on = match part {
                Salvaged::Record(span) => {
                    salvage.read_into(span, &mut payload)?;
                    number += 1;
                    visit(Found::Record(number - 1, &payload))
                }
                Salvaged::Lost { range, error } => {
                    number += 1;
                    visit(Found::Lost(lost(&self.path, &range, &error)))
                }
                Salvaged::Unproven(span) => visit(Found::Unproven(span.offset)),
                _ => true,
            };
            if !go_on {
                break;
            }
        }
        Ok(())
    }
}

fn lost(path: &Path, range: &Range<u64>, error: &Error) -> Problem {
    let message = format!("{}; {} bytes are left out", error.reason(), range.end - range.start);
    Problem { message, ..Problem::new(path, error) }
}

/// A problem in a compressed file, which is not searched for records after one that ends the walk.
fn lost_in_stream(path: &Path, error: &Error, ends: bool) -> Problem {
    let rest = match error.kind() {
        ErrorKind::CorruptLength | ErrorKind::LengthPastEnd { .. } if ends => {
            "; what follows is left out: decompress the file, and copy that, to look for records in it"
        }
        ErrorKind::CorruptData if ends => "; what follows is lost",
        _ => "",
    };
    Problem { message: format!("{}{rest}", error.reason()), ..Problem::left_out(path, error) }
}

fn kind(path: &Path, options: &OpenOptions) -> Result<Kind> {
    match Store::open_with(options, path) {
        Ok(store) => Ok(Kind::Plain(store)),
        Err(error) if can_be_inflated(&error) => Ok(Kind::Inflated),
        Err(error) => Err(error.into()),
    }
}

fn kind_of_damaged(path: &Path, options: &OpenOptions) -> Result<Kind> {
    match Store::scan(options, path)? {
        (store, None) => Ok(Kind::Plain(store)),
        (_, Some(error)) if can_be_inflated(&error) => Ok(Kind::Inflated),
        // What is something else altogether stays an error.
        (_, Some(_)) => Salvage::open(path).map(|_| Kind::Damaged).map_err(Failure::from),
    }
}

fn can_be_inflated(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Compressed { format: "gzip" | "zlib" })
}
