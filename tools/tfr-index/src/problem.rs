//! One line of `verify --json`: what is wrong with a record or a file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tfrmap::Error;

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The data file.
    pub path: PathBuf,
    /// The record's number in the file; none where it is about the file or its index.
    pub record: Option<u64>,
    /// The offset of the frame's first byte.
    pub offset: Option<u64>,
    /// The class of the error.
    pub kind: &'static str,
    /// The feature's key, where it is about one.
    pub feature: Option<String>,
    /// What is wrong, and the way out.
    pub message: String,
}

impl Problem {
    /// The problem that an error tells of a file.
    pub fn new(path: &Path, error: &Error) -> Problem {
        let message = match error.help() {
            Some(help) => format!("{}; {help}", error.reason()),
            None => error.reason().to_owned(),
        };
        Problem {
            path: error.path().unwrap_or(path).to_owned(),
            record: error.record(),
            offset: error.offset(),
            kind: error.kind().name(),
            feature: error.feature().map(str::to_owned),
            message,
        }
    }

    /// As [`new`](Problem::new), where the way out is already being taken.
    pub fn left_out(path: &Path, error: &Error) -> Problem {
        Problem { message: error.reason().to_owned(), ..Problem::new(path, error) }
    }

    /// The line.
    pub fn to_json(&self) -> Value {
        json!({
            "path": self.path.to_string_lossy(),
            "record": self.record,
            "offset": self.offset,
            "kind": self.kind,
            "feature": self.feature,
            "message": self.message,
        })
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        let record = self.record.map(|record| format!("record {record}"));
        let offset = self.offset.map(|offset| format!("at byte {offset}"));
        let place = [record, offset].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let feature = self.feature.as_ref().map(|key| format!("feature \"{key}\""));
        let place: Vec<String> = [place].into_iter().filter(|p| !p.is_empty()).chain(feature).collect();
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        f.write_str(&self.message)
    }
}
