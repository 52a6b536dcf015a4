//! Data files that appear under their names only when they are whole, with their indexes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::file;
use crate::frame;
use crate::index::{self, Index};

use super::draft::{self, Draft};

use super::names::MOST_SHARDS;

/// Bytes gathered before they are written.
const BUFFER: usize = 256 << 10;
/// Sets of more shards than this part of the files that the process may hold open are not held open all at once.
const HELD_OPEN: u64 = 4;

/// Writes a data file, or a set of shards, that appears under its name only when [`finish`](DatasetWriter::finish) has
/// been called: written out of sight in the same folder, fsynced, named, then indexed.
///
/// Dropped without `finish`, or killed, it leaves nothing under the final names. Killed, it leaves nothing at all on
/// Linux; elsewhere, and in the moment in which a file takes the place of another, hidden files `.tfrmap-*.tmp`, which
/// no reader takes for data and which the next writer in the folder removes. (Only those of sets of more shards than a
/// quarter of the files that the process may hold open, `.tfrmap-*.part`, stay until somebody deletes them.)
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("train.tfrecord");
/// let mut writer = tfrmap::DatasetWriter::create(&path)?;
/// writer.write(b"alpha")?;
/// writer.finish()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct DatasetWriter {
    shards: Vec<Shard>,
    records: u64,
    overwrite: bool,
    index: bool,
    failed: bool,
}

/// One file being written.
#[derive(Debug)]
struct Shard {
    draft: Draft,
    buffer: Vec<u8>,
    offsets: Vec<u64>,
    crcs: Vec<u32>,
    end: u64,
}

impl DatasetWriter {
    /// Starts one file.
    ///
    /// # Errors
    /// `AlreadyExists` where there is one of the name; `Io` where the folder cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<DatasetWriter> {
        DatasetWriter::start(vec![path.as_ref().to_path_buf()], false)
    }

    /// Starts one file in place of whatever has its name, which stays until [`finish`](DatasetWriter::finish).
    ///
    /// # Errors
    /// `Io` where the folder cannot be written.
    pub fn overwrite(path: impl AsRef<Path>) -> Result<DatasetWriter> {
        DatasetWriter::start(vec![path.as_ref().to_path_buf()], true)
    }

    /// Starts the `n` files `PREFIX-00000-of-0000n` and so on. Records go to them in turn.
    ///
    /// # Errors
    /// `InvalidArgument` for no shards or more than 10 million; `AlreadyExists`; `Io`.
    pub fn create_sharded(prefix: impl AsRef<Path>, n: usize) -> Result<DatasetWriter> {
        DatasetWriter::start(shard_paths(prefix.as_ref(), n)?, false)
    }

    /// As [`create_sharded`](DatasetWriter::create_sharded), in place of files that have these names.
    ///
    /// # Errors
    /// `InvalidArgument`; `Io`.
    pub fn overwrite_sharded(prefix: impl AsRef<Path>, n: usize) -> Result<DatasetWriter> {
        DatasetWriter::start(shard_paths(prefix.as_ref(), n)?, true)
    }

    /// Starts a longer version of a file that exists: copied, appended to, and put in place by `finish`. So readers
    /// that have the file open keep what they have, and a crash leaves the old file. Costs a copy of the file.
    ///
    /// # Errors
    /// The first fault of the file, where it does not consist of whole frames: nothing is appended to a torn tail.
    pub fn append(path: impl AsRef<Path>) -> Result<DatasetWriter> {
        let path = path.as_ref();
        let scan = index::scan_file(path, 0)?;
        if let Some(problem) = scan.problem {
            return Err(problem);
        }
        // Through a link to the file itself: a rename onto the link would cut the two apart.
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        let mut writer = DatasetWriter::start(vec![path.clone()], true)?;
        let shard = &mut writer.shards[0];
        let io_error = |error| Error::io(&path, error);
        let mut source = File::open(&path).map_err(io_error)?.take(scan.frames.end);
        shard.draft.copy_from(&mut source).map_err(io_error)?;
        (shard.offsets, shard.crcs, shard.end) = (scan.frames.offsets, scan.frames.crcs, scan.frames.end);
        writer.records = shard.offsets.len() as u64;
        Ok(writer)
    }

    /// Whether sidecars are written too (the default).
    pub fn index(mut self, index: bool) -> DatasetWriter {
        self.index = index;
        self
    }

    /// Writes one record: to the only file, or to the shards in turn.
    ///
    /// # Errors
    /// `Io`, for a full disk too; the writer then refuses everything else.
    pub fn write(&mut self, payload: &[u8]) -> Result<()> {
        let shard = (self.records % self.shards.len() as u64) as usize;
        self.write_to(shard, payload)
    }

    /// Writes one record to the shard of a number, from 0.
    ///
    /// # Errors
    /// `InvalidArgument` where there is no such shard; `Io`.
    pub fn write_to(&mut self, shard: usize, payload: &[u8]) -> Result<()> {
        if self.failed {
            return Err(Error::invalid("an earlier write failed, so this data set cannot be finished"));
        }
        let count = self.shards.len();
        let Some(shard) = self.shards.get_mut(shard) else {
            return Err(Error::invalid(format!("there is no shard {shard}, the set has {count}")));
        };
        let written = shard.write(payload);
        self.failed = written.is_err();
        self.records += u64::from(!self.failed);
        written
    }

    /// The number of records in the data set so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Puts the files in place: flushed, fsynced, renamed, then indexed. Returns their paths in order.
    ///
    /// Where a sidecar cannot be written that is only logged: the data is whole, and a reader builds it.
    ///
    /// # Errors
    /// `Io`, for a full disk too; `AlreadyExists` where somebody else has made a file of the name meanwhile.
    pub(crate) fn finish_paths(mut self) -> Result<Vec<PathBuf>> {
        if self.failed {
            return Err(Error::invalid("an earlier write failed, so this data set cannot be finished"));
        }
        self.shards.iter_mut().try_for_each(Shard::sync)?;
        for shard in &mut self.shards {
            shard.publish(self.overwrite)?;
        }
        let mut folders: Vec<_> = self.shards.iter().filter_map(|shard| shard.path().parent()).collect();
        folders.dedup();
        folders.into_iter().for_each(index::sync_folder);
        if self.index {
            self.shards.iter().for_each(Shard::save_index);
        }
        Ok(self.shards.iter().map(|shard| shard.path().to_path_buf()).collect())
    }

    fn start(paths: Vec<PathBuf>, overwrite: bool) -> Result<DatasetWriter> {
        let hold = paths.len() as u64 <= file::descriptor_limit() / HELD_OPEN;
        paths.first().into_iter().for_each(|path| draft::sweep(path));
        let mut writer =
            DatasetWriter { shards: Vec::new(), records: 0, overwrite, index: true, failed: false };
        for path in paths {
            writer.shards.push(Shard::create(path, overwrite, hold)?);
        }
        Ok(writer)
    }
}

impl Shard {
    fn create(path: PathBuf, overwrite: bool, hold: bool) -> Result<Shard> {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Error::io(path, io::Error::new(io::ErrorKind::IsADirectory, "is a folder")));
            }
            Ok(_) if !overwrite => return Err(exists(&path)),
            // A rename would put a file in the place of a device or a pipe.
            Ok(_) if path.metadata().is_ok_and(|metadata| !metadata.is_file()) => {
                return Err(Error::invalid("is no regular file and cannot be replaced by one").at_path(path));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path, error)),
        }
        if path.file_name().is_none() {
            return Err(Error::invalid("the path names no file").at_path(path));
        }
        let draft = Draft::new(path.clone(), hold).map_err(|error| Error::io(path, error))?;
        Ok(Shard { draft, buffer: Vec::new(), offsets: Vec::new(), crcs: Vec::new(), end: 0 })
    }

    fn path(&self) -> &Path {
        self.draft.place()
    }

    fn write(&mut self, payload: &[u8]) -> Result<()> {
        let crc = crc::masked(payload);
        self.buffer.extend_from_slice(&frame::header(payload.len() as u64));
        if payload.len() < BUFFER {
            self.buffer.extend_from_slice(payload);
        } else {
            self.flush()?;
            self.put(payload)?;
        }
        self.buffer.extend_from_slice(&crc.to_le_bytes());
        self.offsets.push(self.end);
        self.crcs.push(crc);
        self.end += payload.len() as u64 + frame::OVERHEAD;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.put(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        result
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.draft.write(bytes).map_err(|error| Error::io(self.path(), error))
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.draft.sync().map_err(|error| Error::io(self.path(), error))
    }

    /// Gives the file its name. An old index goes first: data without one is only slower, data with another's is not
    /// readable.
    fn publish(&mut self, overwrite: bool) -> Result<()> {
        if overwrite {
            index::remove_sidecar(self.path())?;
        }
        match self.draft.publish(overwrite) {
            Ok(()) if overwrite => Ok(()),
            Ok(()) => index::remove_sidecar(self.path()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(self.path())),
            Err(error) => Err(Error::io(self.path(), error)),
        }
    }

    fn save_index(&self) {
        let index = Index::from_parts(&self.offsets, &self.crcs, self.end);
        let places = index::locate(self.path(), None);
        if let Err(error) = index.to_bytes().and_then(|bytes| index::save_at(&places[0], &bytes)) {
            log::warn!("{}: the index could not be saved: {error}", self.path().display());
        }
    }
}

fn exists(path: &Path) -> Error {
    Error::new(ErrorKind::AlreadyExists, "the file exists already")
        .at_path(path)
        .with_help("choose another name, or ask to overwrite it")
}

fn shard_paths(prefix: &Path, n: usize) -> Result<Vec<PathBuf>> {
    if n == 0 || n as u64 > MOST_SHARDS {
        return Err(Error::invalid(format!("a set of {n} shards")));
    }
    let Some(name) = prefix.file_name() else {
        return Err(Error::invalid("the prefix names no file").at_path(prefix));
    };
    let path = |shard| {
        let mut name: OsString = name.to_os_string();
        name.push(format!("-{shard:05}-of-{n:05}"));
        prefix.with_file_name(name)
    };
    Ok((0..n).map(path).collect())
}
