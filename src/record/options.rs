//! How data files are opened.

use std::path::{Path, PathBuf};

use crate::file::Access;

/// How much of a record is checked at each read. What an index says is never believed unchecked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verify {
    /// Header, payload and footer. 6 us for 100 KB.
    #[default]
    Full,
    /// The header, and the footer against the index: a damaged payload is not noticed.
    Length,
    /// The length and the footer against the index only.
    Off,
}

/// What is done where a data file has no index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MissingIndex {
    /// Builds it and saves it in the sidecar's place; where that cannot be written keeps it in memory, and says so once
    /// through `log`. Processes that open a set together do not all scan it: one builds, the others wait.
    #[default]
    Build,
    /// Builds it in memory and writes nothing.
    InMemory,
    /// Is an error: `Io` with `NotFound`.
    Fail,
}

/// Options for opening data files: access, verification, and what to do without an index.
///
/// ```
/// use tfrmap::{Access, MissingIndex, OpenOptions, Verify};
/// let options = OpenOptions::new().access(Access::Read).verify(Verify::Full).missing_index(MissingIndex::InMemory);
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    access: Access,
    verify: Verify,
    missing_index: MissingIndex,
    index_dir: Option<PathBuf>,
    whole_records: bool,
    allow_missing_shards: bool,
}

impl OpenOptions {
    /// The defaults: `Access::Auto`, `Verify::Full`, `MissingIndex::Build`, strict about damage and missing shards.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// How bytes are reached.
    pub fn access(mut self, access: Access) -> OpenOptions {
        self.access = access;
        self
    }

    /// How much of a record is checked at each read.
    pub fn verify(mut self, verify: Verify) -> OpenOptions {
        self.verify = verify;
        self
    }

    /// What is done where there is no index.
    pub fn missing_index(mut self, missing: MissingIndex) -> OpenOptions {
        self.missing_index = missing;
        self
    }

    /// Looks for sidecars (and writes them) in this folder instead of beside the data and instead of in
    /// `TFRMAP_INDEX_DIR`. Data files of one name need folders of their own.
    pub fn index_dir(mut self, folder: impl Into<PathBuf>) -> OpenOptions {
        self.index_dir = Some(folder.into());
        self
    }

    /// Opens the whole records before the first frame that cannot be walked over, of a file without an index, and
    /// says through `log` what is left out. Such an index is not saved.
    pub fn whole_records(mut self, whole_records: bool) -> OpenOptions {
        self.whole_records = whole_records;
        self
    }

    /// Opens a `-00000-of-00004` set of which files are missing.
    pub fn allow_missing_shards(mut self, allow: bool) -> OpenOptions {
        self.allow_missing_shards = allow;
        self
    }

    pub(crate) fn get_access(&self) -> Access {
        self.access
    }

    pub(crate) fn get_verify(&self) -> Verify {
        self.verify
    }

    pub(crate) fn get_missing_index(&self) -> MissingIndex {
        self.missing_index
    }

    pub(crate) fn get_index_dir(&self) -> Option<&Path> {
        self.index_dir.as_deref()
    }

    pub(crate) fn get_whole_records(&self) -> bool {
        self.whole_records
    }

    pub(crate) fn get_allow_missing_shards(&self) -> bool {
        self.allow_missing_shards
    }
}
