//! Whether a data file has an index that belongs to it, without building one.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::file::{Access, DataFile};

use super::{Index, identity, sidecar};

/// The state of a data file's sidecar.
#[derive(Debug)]
#[non_exhaustive]
pub enum IndexState {
    /// It is there and belongs to the data, as far as header, length, first and last record tell.
    Fresh(Index),
    /// There is none.
    Missing,
    /// It belongs to other data: the file grew or was replaced.
    Stale(Error),
    /// It is damaged, of a newer version, or of another tool.
    Corrupt(Error),
}

impl IndexState {
    /// Looks at the sidecar of a data file, in `index_dir` where one is given. Costs the same for any number of records.
    ///
    /// # Errors
    /// `Io` where the data file or the sidecar cannot be read.
    pub fn of(data: impl AsRef<Path>, index_dir: Option<&Path>) -> Result<IndexState> {
        let data = data.as_ref();
        let file = DataFile::open(data, Access::Read)?;
        let Some(place) = sidecar::find(&sidecar::locate(data, index_dir))? else {
            return Ok(IndexState::Missing);
        };
        let checked = Index::open_sidecar(&place, Access::Auto).and_then(|index| {
            identity::check_len(&index, &file)?;
            identity::check_ends(&index, &file)?;
            Ok(index)
        });
        match checked.map_err(|error| error.at_path(data)) {
            Ok(index) => Ok(IndexState::Fresh(index)),
            Err(error) if error.is_io() => Err(error),
            Err(error) => Ok(match error.kind() {
                ErrorKind::IndexCorrupt | ErrorKind::IndexVersion | ErrorKind::IndexFormat => {
                    IndexState::Corrupt(error)
                }
                _ => IndexState::Stale(error),
            }),
        }
    }

    /// The name used in the CLI's JSON: `fresh`, `missing`, `stale` or `corrupt`.
    pub fn name(&self) -> &'static str {
        match self {
            IndexState::Fresh(_) => "fresh",
            IndexState::Missing => "missing",
            IndexState::Stale(_) => "stale",
            IndexState::Corrupt(_) => "corrupt",
        }
    }
}
