//! What the caller chose.

use std::path::PathBuf;

use crate::peers::Peers;

/// What a run needs to know besides the definitions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Environments of the peers.
    pub peers: Peers,
    /// Folder of the data sets.
    pub data: PathBuf,
    /// Scratch of the runs.
    pub work: PathBuf,
    /// JSON lines are appended here.
    pub results: PathBuf,
    /// Instead of the definitions' own number of repetitions.
    pub repetitions: Option<u32>,
    /// Instead of the data sets' own number of records.
    pub records: Option<u64>,
    /// Only engines whose name contains this.
    pub only: Option<String>,
}
