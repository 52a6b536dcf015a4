//! Builds sidecars: one for a reader that finds none, or many with a report.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};

use crate::error::{Error, Result};
use crate::file::{Access, DataFile};

use super::scan::{self, Frames, Scan};
use super::{Index, identity, payload, sidecar};

/// Frames of an old index that are compared with the data before it is believed: enough to find a replaced file, few
/// enough to cost nothing.
const SAMPLES: u64 = 64;
/// Bytes of a file between two reports of progress.
const WINDOW: u64 = 8 << 30;
/// The same where payloads are checked, which should still be in memory from the walk.
const CHECK_WINDOW: u64 = 256 << 20;

/// Scans a whole data file.
pub(crate) fn scan_file(data: &Path, threads: usize) -> Result<Scan> {
    let file = DataFile::open(data, Access::Read)?;
    let scan = scan::scan(&file, 0, u64::MAX, 0, threads).map_err(|error| error.at_path(data))?;
    Ok(Scan { problem: scan.problem.map(|error| error.at_path(data)), ..scan })
}

/// The index of data that had no sidecar.
pub(crate) enum Built {
    /// It is in a sidecar now, written here or by another process.
    Saved(PathBuf),
    /// It could not be saved.
    Memory(Index),
}

/// Builds the index of data that has no sidecar, or waits for another process that does. Where it cannot be saved it
/// stays in memory, which is said once a folder.
pub(crate) fn build_or_wait(data: &Path, places: &[PathBuf], threads: usize) -> Result<Built> {
    let mut built = None;
    let mut failure = None;
    for place in places {
        let lock = match sidecar::Lock::acquire(place) {
            Ok(lock) => lock,
            Err(error) => {
                failure = Some(error);
                continue;
            }
        };
        if sidecar::find(std::slice::from_ref(place))?.is_some() {
            return Ok(Built::Saved(place.clone()));
        }
        let index = match built.take() {
            Some(index) => index,
            None => Index::build_with(data, threads)?,
        };
        match lock.write(&index.to_bytes()?) {
            Ok(()) => {
                log::info!("{}: indexed {} records", data.display(), index.len());
                return Ok(Built::Saved(place.clone()));
            }
            Err(error) => failure = Some(error),
        }
        built = Some(index);
        drop(lock);
    }
    if let Some(error) = failure {
        say_once(data, &error);
    }
    built.map_or_else(|| Index::build_with(data, threads), Ok).map(Built::Memory)
}

fn say_once(data: &Path, error: &Error) {
    static SAID: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let folder =
        data.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf();
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone()) {
        log::warn!(
            "{}: the index cannot be saved and is kept in memory ({error}); set TFRMAP_INDEX_DIR to a folder that \
             can be written to keep it",
            folder.display()
        );
    }
}

/// What became of one file's sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildStatus {
    /// There was none; now there is.
    Built,
    /// It was there, and belongs to the data.
    Fresh,
    /// The data had grown: only the new part was scanned.
    Extended,
    /// It belonged to other data, or was damaged, and was written anew.
    Rebuilt,
    /// Nothing was written: see the report's error.
    Failed,
}

impl BuildStatus {
    /// The name used in the CLI's JSON: `built`, `fresh`, `extended`, `rebuilt` or `failed`.
    pub fn name(self) -> &'static str {
        match self {
            BuildStatus::Built => "built",
            BuildStatus::Fresh => "fresh",
            BuildStatus::Extended => "extended",
            BuildStatus::Rebuilt => "rebuilt",
            BuildStatus::Failed => "failed",
        }
    }
}

/// What [`IndexBuilder::build`] did for one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct BuildReport {
    /// The data file.
    pub path: PathBuf,
    /// The number of records indexed; of a failed file, of the whole records before the fault.
    pub records: u64,
    /// The length of the data file in bytes.
    pub bytes: u64,
    /// What was done.
    pub status: BuildStatus,
    /// Why it failed.
    pub error: Option<Error>,
}

/// What a build tells while it runs, from whatever thread is at work.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildEvent<'a> {
    /// So many bytes more of a data file are done.
    Progress {
        /// The data file.
        path: &'a Path,
        /// Bytes done since the last event of this file.
        bytes: u64,
    },
    /// A file is done.
    Done(&'a BuildReport),
}

/// Builds, extends and rebuilds sidecars of any number of data files.
///
/// ```no_run
/// # fn main() -> tfrmap::Result<()> {
/// let reports = tfrmap::IndexBuilder::new().check(true).build(&["train.tfrecord".into()], |_| {});
/// assert!(reports.iter().all(|report| report.error.is_none()));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct IndexBuilder {
    index_dir: Option<PathBuf>,
    check: bool,
    force: bool,
    jobs: usize,
}

impl IndexBuilder {
    /// Sidecars in their usual places, headers only, keeping what is fresh, as many threads as are useful.
    pub fn new() -> IndexBuilder {
        IndexBuilder::default()
    }

    /// Writes the sidecars into this folder.
    pub fn index_dir(mut self, folder: impl Into<PathBuf>) -> IndexBuilder {
        self.index_dir = Some(folder.into());
        self
    }

    /// Verifies every payload's CRC too: the first that does not match makes the file fail.
    pub fn check(mut self, check: bool) -> IndexBuilder {
        self.check = check;
        self
    }

    /// Writes every sidecar anew.
    pub fn force(mut self, force: bool) -> IndexBuilder {
        self.force = force;
        self
    }

    /// At most so many threads; 0 for as many as are useful.
    pub fn jobs(mut self, jobs: usize) -> IndexBuilder {
        self.jobs = jobs;
        self
    }

    /// Builds the sidecars, several files at once, and returns a report for each in the order given.
    ///
    /// One file's failure does not keep the others from being indexed. `on_event` is called from several threads.
    pub fn build(&self, paths: &[PathBuf], on_event: impl Fn(BuildEvent<'_>) + Sync) -> Vec<BuildReport> {
        let at_once = if self.jobs == 0 { 16 } else { self.jobs }.min(paths.len()).max(1);
        let threads_each = (if self.jobs == 0 { 32 } else { self.jobs } / at_once).max(1);
        let next = AtomicUsize::new(0);
        let (sender, reports) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                let (sender, next, on_event) = (sender.clone(), &next, &on_event);
                scope.spawn(move || {
                    while let Some((number, path)) = take(next, paths) {
                        let report = self.build_one(path, threads_each, on_event);
                        on_event(BuildEvent::Done(&report));
                        let _ = sender.send((number, report));
                    }
                });
            }
        });
        drop(sender);
        let mut reports: Vec<_> = reports.into_iter().collect();
        reports.sort_by_key(|(number, _)| *number);
        reports.into_iter().map(|(_, report)| report).collect()
    }

    fn build_one(&self, path: &Path, threads: usize, on_event: &dyn Fn(BuildEvent<'_>)) -> BuildReport {
        let mut report =
            BuildReport { path: path.into(), records: 0, bytes: 0, status: BuildStatus::Failed, error: None };
        match self.try_build_one(path, threads, on_event, &mut report) {
            Ok(status) => report.status = status,
            Err(error) => report.error = Some(error.at_path(path)),
        }
        report
    }

    fn try_build_one(
        &self,
        path: &Path,
        threads: usize,
        on_event: &dyn Fn(BuildEvent<'_>),
        report: &mut BuildReport,
    ) -> Result<BuildStatus> {
        let file = DataFile::open(path, Access::Read)?;
        report.bytes = file.len();
        let places = sidecar::locate(path, self.index_dir.as_deref());
        let place = &places[0];
        let lock = sidecar::Lock::acquire(place)?;
        let old = sidecar::find(&places)?;
        let kept = old.as_deref().filter(|_| !self.force).and_then(|old| keep(old, &file));
        let scanned_from = if self.check { 0 } else { kept.as_ref().map_or(0, |kept| kept.end) };
        let start = if self.check { None } else { kept.as_ref() };
        on_event(BuildEvent::Progress { path, bytes: scanned_from });
        let frames = self.scan(path, &file, start, threads, on_event, &mut report.records)?;
        let status = match (&old, &kept) {
            (None, _) => BuildStatus::Built,
            (Some(_), Some(kept)) if frames.begins_with(kept) => {
                if kept.end == frames.end {
                    BuildStatus::Fresh
                } else {
                    BuildStatus::Extended
                }
            }
            _ => BuildStatus::Rebuilt,
        };
        if status != BuildStatus::Fresh {
            lock.write(&Index::from_frames(&frames).to_bytes()?)?;
        }
        Ok(status)
    }

    /// Scans a file from where `kept` ends, and checks payloads where that is asked for.
    fn scan(
        &self,
        path: &Path,
        file: &DataFile,
        kept: Option<&Frames>,
        threads: usize,
        on_event: &dyn Fn(BuildEvent<'_>),
        records: &mut u64,
    ) -> Result<Frames> {
        let mut frames = kept.cloned().unwrap_or_default();
        *records = frames.offsets.len() as u64;
        // Checked through the map where there is one: what is walked by reads jumps, and would not be read ahead.
        let checked = if self.check { Some(DataFile::open(path, Access::Auto)?) } else { None };
        let window = if self.check { CHECK_WINDOW } else { WINDOW };
        while frames.end < file.len() {
            let (from, first) = (frames.end, frames.offsets.len() as u64);
            let until = from.saturating_add(window);
            let walk = checked.as_ref().map_or(file, |checked| payload::to_walk(checked, file, from..until));
            let scan = scan::scan(walk, from, until, first, threads)?;
            let bad =
                checked.as_ref().map(|checked| payload::check(checked, &scan.frames, first, threads, None));
            if let Some(problem) = bad.into_iter().flatten().next() {
                *records = problem.record().unwrap_or(first);
                return Err(problem);
            }
            frames.append(&scan.frames);
            *records = frames.offsets.len() as u64;
            on_event(BuildEvent::Progress { path, bytes: frames.end - from });
            if let Some(problem) = scan.problem {
                return Err(problem);
            }
        }
        Ok(frames)
    }
}

/// The next path that nobody has taken.
fn take<'a>(next: &AtomicUsize, paths: &'a [PathBuf]) -> Option<(usize, &'a PathBuf)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, paths.get(number)?))
}

/// What an old sidecar says about the data, where it can be believed.
fn keep(old: &Path, file: &DataFile) -> Option<Frames> {
    let index = Index::open_sidecar(old, Access::Read).ok()?;
    if index.data_len() > file.len() || !index.body_holds() {
        return None;
    }
    identity::check_ends(&index, file).ok()?;
    let step = (index.len() / SAMPLES).max(1);
    for i in (0..index.len()).step_by(step as usize) {
        identity::check_frame(&index, file, i).ok()?;
    }
    index.to_frames().ok()
}
