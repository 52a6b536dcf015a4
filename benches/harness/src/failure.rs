use std::fmt;
use std::path::Path;

/// Why the harness itself could not go on: one sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    /// A failure that says `why`.
    pub fn new(why: impl Into<String>) -> Failure {
        Failure(why.into())
    }

    /// An I/O error at `path`.
    pub fn io(path: &Path, error: &std::io::Error) -> Failure {
        Failure(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
