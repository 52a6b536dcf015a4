//! Data sets: files in order, and the writing of them.

mod names;
mod paths;
mod pattern;
mod writer;

use std::path::PathBuf;

use crate::error::Result;

pub use writer::DatasetWriter;

impl DatasetWriter {
    /// Puts the files in place and returns their paths in order: flushed, fsynced, renamed, then indexed.
    ///
    /// # Errors
    /// `Io`, for a full disk too; `AlreadyExists` where somebody else has made a file of the name meanwhile.
    pub fn finish(self) -> Result<Vec<PathBuf>> {
        self.finish_paths()
    }
}
