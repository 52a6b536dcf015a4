//! Finds every problem of a data file, without an index.

use std::path::Path;

use crate::error::{Error, Result};
use crate::file::{Access, DataFile};
use crate::index;

/// Bytes of the file that are walked, then checked, at a time: they are still in memory when they are checked.
const WINDOW: u64 = 256 << 20;

/// Checks every CRC of data files, in several threads, and goes on after damaged payloads.
///
/// ```no_run
/// # fn main() -> tfrmap::Result<()> {
/// let summary = tfrmap::FileVerifier::new().verify("train.tfrecord", |event| {
///     if let tfrmap::VerifyEvent::Problem(problem) = event {
///         eprintln!("{problem}");
///     }
/// })?;
/// println!("{} of {} records are good", summary.good, summary.records);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FileVerifier {
    jobs: usize,
    access: Access,
}

/// What was found in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifySummary {
    /// Good and bad records together.
    pub records: u64,
    /// Whole records.
    pub good: u64,
    /// Problems: records that do not hold, and the place at which the file could not be walked on.
    pub bad: u64,
}

/// What a verification tells while it runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum VerifyEvent<'a> {
    /// Something is wrong, in the order of the file.
    Problem(&'a Error),
    /// So many bytes more are done.
    Progress {
        /// Bytes done since the last event.
        bytes: u64,
    },
}

impl FileVerifier {
    /// As many threads as there are cores.
    pub fn new() -> FileVerifier {
        FileVerifier::default()
    }

    /// At most so many threads; 0 for as many as there are cores.
    pub fn jobs(mut self, jobs: usize) -> FileVerifier {
        self.jobs = jobs;
        self
    }

    /// How bytes are reached.
    pub fn access(mut self, access: Access) -> FileVerifier {
        self.access = access;
        self
    }

    /// Checks a whole file. A record with a damaged payload is one problem; a length that cannot be trusted, or a cut,
    /// is one too and ends the file.
    ///
    /// # Errors
    /// `Io` where the file cannot be opened. All else is a problem in the summary.
    pub fn verify(
        &self,
        path: impl AsRef<Path>,
        on_event: impl FnMut(VerifyEvent<'_>),
    ) -> Result<VerifySummary> {
        self.run(path.as_ref(), None, on_event)
    }

    /// As [`verify`](FileVerifier::verify), and calls `inspect` with the number and the payload of each good record,
    /// from several threads. Where it returns an error, that is the record's problem.
    ///
    /// # Errors
    /// `Io` where the file cannot be opened.
    pub fn verify_with(
        &self,
        path: impl AsRef<Path>,
        inspect: impl Fn(u64, &[u8]) -> Result<()> + Sync,
        on_event: impl FnMut(VerifyEvent<'_>),
    ) -> Result<VerifySummary> {
        self.run(path.as_ref(), Some(&inspect), on_event)
    }

    fn run(
        &self,
        path: &Path,
        inspect: Option<index::Inspect<'_>>,
        mut on_event: impl FnMut(VerifyEvent<'_>),
    ) -> Result<VerifySummary> {
        // Walked by reads, which jump; checked through the map where there is one.
        let walked = DataFile::open(path, Access::Read)?;
        let checked = DataFile::open(path, self.access)?;
        let mut summary = VerifySummary::default();
        let mut at = 0;
        while at < walked.len() {
            let walk = index::to_walk(&checked, &walked, at..at + WINDOW);
            let (frames, mut last) = match index::scan(walk, at, at + WINDOW, summary.records, self.jobs) {
                Ok(scan) => (scan.frames, scan.problem),
                Err(error) => {
                    (index::Frames::default(), Some(error.at_record(summary.records).at_offset(at)))
                }
            };
            let mut problems = index::check_payloads(&checked, &frames, summary.records, self.jobs, inspect);
            let count = frames.offsets.len() as u64;
            summary.records += count;
            summary.good += count - problems.len() as u64;
            summary.records += u64::from(last.is_some());
            let ended = last.is_some();
            problems.extend(last.take());
            summary.bad += problems.len() as u64;
            for problem in problems {
                on_event(VerifyEvent::Problem(&problem.at_path(path)));
            }
            let end = if ended { walked.len() } else { frames.end };
            on_event(VerifyEvent::Progress { bytes: end - at });
            at = end;
        }
        Ok(summary)
    }
}
