//! The data set that a command works on.

use std::path::{Path, PathBuf};

use clap::Args;
use tfrmap::{Dataset, MissingIndex, OpenOptions};

use crate::atomic;
use crate::failure::{Exit, Failure, Result};
use crate::output::{self, Output};

/// Paths and how they are opened.
#[derive(Args, Clone)]
pub struct Input {
    /// Files, folders or quoted patterns.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub options: InputOptions,
}

/// How a data set is opened.
#[derive(Args, Clone)]
pub struct InputOptions {
    /// Keep indexes in this folder instead of beside the data.
    #[arg(long, value_name = "DIR")]
    pub index_dir: Option<PathBuf>,

    /// Go on where shards of an `-of-` set are missing.
    #[arg(long)]
    pub allow_missing_shards: bool,
}

impl InputOptions {
    /// The library's options.
    pub fn open(&self) -> OpenOptions {
        let options = OpenOptions::new().allow_missing_shards(self.allow_missing_shards);
        match &self.index_dir {
            Some(folder) => options.index_dir(folder),
            None => options,
        }
    }

    /// The library's options, without writing an index where there is none.
    pub fn open_in_memory(&self) -> OpenOptions {
        self.open().missing_index(MissingIndex::InMemory)
    }
}

impl Input {
    /// The data set, indexed where it was not.
    pub fn dataset(&self) -> Result<Dataset> {
        Ok(Dataset::open_with(&self.options.open(), &self.paths)?)
    }

    /// As [`dataset`](Input::dataset), for a command that writes the file `out`, which is none of the data files.
    pub fn dataset_for(&self, out: &Path) -> Result<Dataset> {
        let dataset = self.dataset()?;
        let files: Vec<PathBuf> = dataset.shards().map(Path::to_owned).collect();
        atomic::refuse_inputs(&[out.to_owned()], &files)?;
        Ok(dataset)
    }

    /// The data files in order. A path that cannot be resolved is reported, and the others go on.
    pub fn files(&self, out: &mut Output) -> Result<(Vec<PathBuf>, Exit)> {
        let mut files = Vec::new();
        let mut exit = Exit::Fine;
        for path in &self.paths {
            match self.resolve(path) {
                Ok(found) => files.extend(found),
                Err(failure) => {
                    output::report(&failure);
                    if out.is_json() {
                        out.json(&failure.to_json())?;
                    }
                    exit = exit.and(failure.exit());
                }
            }
        }
        Ok((files, exit))
    }

    fn resolve(&self, path: &Path) -> Result<Vec<PathBuf>> {
        self.options.open().files(path).map_err(Failure::from)
    }
}

/// The length of a file in bytes; 0 where it cannot be told.
pub fn file_len(path: &Path) -> u64 {
    path.metadata().map_or(0, |meta| meta.len())
}
