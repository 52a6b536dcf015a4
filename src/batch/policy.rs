//! What to do about records that cannot be read.

use crate::batch::job::Fate;
use crate::error::{Error, ErrorKind};

/// What happens where a record is damaged, lacks a feature or holds a picture that cannot be decoded.
///
/// What is wrong with more than one record (the disk, the index, an argument) ends the run under any policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnError {
    /// The run ends with the error. The default.
    #[default]
    Stop,
    /// The row is left out: its batch is one row shorter, all others are as they were.
    Skip {
        /// How many records may be lost before the run ends with an error that lists them.
        limit: u64,
    },
    /// The row stays, holds zeros (nothing in a ragged column), and is not [`valid`](crate::Batch::valid).
    Mask {
        /// How many records may be lost before the run ends with an error that lists them.
        limit: u64,
    },
}

impl OnError {
    /// What becomes of the row, or `None` where the run ends.
    pub(crate) fn fate(self, error: &Error) -> Option<Fate> {
        let of_one_record = !matches!(
            error.kind(),
            ErrorKind::Io(_)
                | ErrorKind::StaleIndex
                | ErrorKind::IndexMismatch
                | ErrorKind::IndexCorrupt
                | ErrorKind::IndexVersion
                | ErrorKind::IndexFormat
                | ErrorKind::SourceChanged
                | ErrorKind::InvalidArgument
        );
        match self {
            OnError::Skip { .. } if of_one_record => Some(Fate::Skipped),
            OnError::Mask { .. } if of_one_record => Some(Fate::Masked),
            _ => None,
        }
    }

    pub(crate) fn limit(self) -> u64 {
        match self {
            OnError::Stop => 0,
            OnError::Skip { limit } | OnError::Mask { limit } => limit,
        }
    }
}

/// The error that ends a run with too many bad records; it lists the first of them.
pub(crate) fn too_many(bad: &[Error], limit: u64) -> Error {
    const LISTED: usize = 100;
    let mut reason = format!("{} bad records, {limit} are allowed:", bad.len());
    for error in bad.iter().take(LISTED) {
        reason.push_str(&format!(" [{error}]"));
    }
    if bad.len() > LISTED {
        reason.push_str(&format!(" and {} more", bad.len() - LISTED));
    }
    Error::new(ErrorKind::TooManyErrors, reason)
}
