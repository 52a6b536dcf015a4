//! From a path, a folder or a pattern to data files in order.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::record::OpenOptions;

impl OpenOptions {
    /// The data files that a path means, in order: a file, the one set of shards in a folder, or all files that a pattern
    /// matches, as [`Dataset::open`](crate::Dataset::open) takes it. No file is opened.
    ///
    /// # Errors
    /// `Io` where nothing is there; `MissingShard` and `ShardSetConflict` where a set is not one whole set.
    pub fn files(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        resolve(path.as_ref())
    }
}

/// The data files that a path means, in order.
pub(crate) fn resolve(path: &Path) -> Result<Vec<PathBuf>> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let entries = std::fs::read_dir(path).map_err(|error| Error::io(path, error))?;
            let mut files: Vec<PathBuf> =
                entries.flatten().map(|entry| entry.path()).filter(|p| p.is_file()).collect();
            files.sort();
            Ok(files)
        }
        Ok(_) => Ok(vec![path.to_path_buf()]),
        Err(error) => Err(Error::io(path, error)),
    }
}
