//! What ends a command, and the exit code that tells it: 0 fine, 1 the data is wrong, 2 the request or the machine.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tfrmap::{Error, ErrorKind};

use crate::problem::Problem;

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything is fine.
    Fine,
    /// Something is wrong in the data, a sidecar or the shard set; it has been reported.
    Wrong,
    /// The request cannot be met: arguments, permission, a missing path, a full disk, an output that exists.
    Refused,
}

impl Exit {
    /// The process exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Wrong => 1,
            Exit::Refused => 2,
        }
    }

    /// The exit of two parts of one command: wrong data is worth more attention than a refusal.
    pub fn and(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::Fine, x) | (x, Exit::Fine) => x,
            (Exit::Wrong, _) | (_, Exit::Wrong) => Exit::Wrong,
            _ => Exit::Refused,
        }
    }
}

/// What ends a command early.
#[derive(Debug)]
pub enum Failure {
    /// An error of the library.
    Library(Error),
    /// A request that cannot be met, with the way out in its text.
    Usage(String),
    /// Data that is not what the command needs.
    Data(String),
    /// The operating system refused something at a path.
    Io(PathBuf, io::Error),
}

/// What a command returns.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A request that cannot be met.
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure::Usage(text.into())
    }

    /// Data that is not what the command needs.
    pub fn data(text: impl Into<String>) -> Failure {
        Failure::Data(text.into())
    }

    /// The operating system refused something at a path.
    pub fn io(path: &Path, error: io::Error) -> Failure {
        Failure::Io(path.to_owned(), error)
    }

    /// The exit that this failure means.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Library(error) => exit_of(error),
            Failure::Data(_) => Exit::Wrong,
            Failure::Usage(_) | Failure::Io(..) => Exit::Refused,
        }
    }

    /// The line that `--json` prints.
    pub fn to_json(&self) -> Value {
        let inner = match self {
            Failure::Library(error) => {
                let mut line = Problem::new(Path::new(""), error).to_json();
                if error.path().is_none() {
                    line["path"] = Value::Null;
                }
                line
            }
            Failure::Usage(text) => fields("InvalidArgument", None, text),
            Failure::Data(text) => fields("Data", None, text),
            Failure::Io(path, error) => fields("Io", Some(path), &error.to_string()),
        };
        json!({ "error": inner })
    }
}

fn fields(kind: &str, path: Option<&Path>, message: &str) -> Value {
    json!({
        "path": path.map(|p| p.to_string_lossy()),
        "record": null,
        "offset": null,
        "kind": kind,
        "feature": null,
        "message": message,
    })
}

/// The exit that a library error means.
pub fn exit_of(error: &Error) -> Exit {
    match error.kind() {
        ErrorKind::Io(_) | ErrorKind::InvalidArgument | ErrorKind::AlreadyExists => Exit::Refused,
        _ => Exit::Wrong,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Library(error) => write!(f, "{error}"),
            Failure::Usage(text) | Failure::Data(text) => f.write_str(text),
            Failure::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}
