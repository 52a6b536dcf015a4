//! Inputs that cannot be read at random, unpacked into a file beside the output for as long as the copy takes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tfrmap::{OpenOptions, RecordWriter, Store};

use super::input::{Found, Input};
use crate::failure::{Failure, Result};
use crate::problem::Problem;

/// The records of an input, unpacked.
pub struct Staged {
    /// The unpacked file.
    pub store: Store,
    /// The number in the input of each record, where some are missing.
    numbers: Option<Vec<u64>>,
    /// What was lost.
    pub lost: Vec<Problem>,
    /// Offsets of frames inside lost stretches.
    pub unproven: Vec<u64>,
    _file: Temporary,
}

impl Staged {
    /// Unpacks an input beside `output`. `tag` tells several apart.
    pub fn new(input: &Input, salvage: bool, output: &Path, tag: usize) -> Result<Staged> {
        let mut name = std::ffi::OsString::from(".");
        name.push(output.file_name().unwrap_or_default());
        name.push(format!(".{}-{tag}.tmp", std::process::id()));
        let temporary = Temporary(output.with_file_name(name));
        let at = |error| Failure::io(&temporary.0, error);
        let file = File::create_new(&temporary.0).map_err(at)?;
        let mut writer = RecordWriter::new(BufWriter::with_capacity(1 << 20, file));
        let (mut numbers, mut lost, mut unproven) = (Vec::new(), Vec::new(), Vec::new());
        let mut written = Ok(());
        input.walk(salvage, |found| {
            match found {
                Found::Record(number, payload) => {
                    numbers.push(number);
                    written = writer.write(payload);
                }
                Found::Lost(problem) => lost.push(problem),
                Found::Unproven(offset) => unproven.push(offset),
            }
            written.is_ok()
        })?;
        written.map_err(|error| Failure::usage(format!("{}: {error}", temporary.0.display())))?;
        writer.into_inner().flush().map_err(at)?;
        let store = match Store::scan(&OpenOptions::new(), &temporary.0)? {
            (store, None) => store,
            (_, Some(error)) => return Err(error.into()),
        };
        let numbers = (!lost.is_empty()).then_some(numbers);
        Ok(Staged { store, numbers, lost, unproven, _file: temporary })
    }

    /// The record of a number in the input; none where it was lost.
    pub fn position(&self, number: u64) -> Option<u64> {
        match &self.numbers {
            None => (number < self.store.len()).then_some(number),
            Some(numbers) => numbers.binary_search(&number).ok().map(|position| position as u64),
        }
    }
}

/// A file that is gone when this is dropped.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nothing more can be done where it cannot be removed.
        let _ = fs::remove_file(&self.0);
    }
}
