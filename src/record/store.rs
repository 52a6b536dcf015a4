//! One data file with its index: any record in constant time.

use std::fmt;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Access, DataFile};
use crate::frame::{FOOTER_LEN, HEADER_LEN};
use crate::index::{self, Built, Crcs, Entry, Index, Span};

use super::pool::{self, Opened, Permit};
use super::{MissingIndex, OpenOptions, Record, Verify};

/// Payloads from this size on are asked for as a whole where the first touch shows that they are not in memory.
const LARGE: u64 = 32 << 10;
/// A first touch that takes longer than this has waited for a disk.
const SLOW: Duration = Duration::from_micros(10);

/// Frames up to this size are read by one call: moving the payload to its place costs less than another one.
const SMALL: usize = 4 << 10;

/// Files opened at once: they wait for disks and file servers more than they compute.
const AT_ONCE: usize = 16;
/// Threads that scan files without an index, over all files opened at once.
const SCANNING: usize = 32;

/// A data file with its index: record `i` in constant time, from any number of threads.
///
/// **The file must not be modified or truncated in place while it is open; replace it by rename.** Those who cannot
/// promise that use [`Access::Read`].
///
/// Cheap to hold by the ten thousand: files are opened at their first read, and share what the system allows of maps and
/// descriptors.
pub struct Store {
    path: Arc<Path>,
    id: u64,
    len: u64,
    data_len: u64,
    checksum: u32,
    access: Access,
    pub(super) verify: Verify,
    index: IndexPlace,
    opened: OnceLock<Arc<Opened>>,
}

enum IndexPlace {
    Memory(Arc<Index>),
    Sidecar(PathBuf),
}

/// An open file: the store's own, or one held for the time of a read.
pub(super) enum Held<'a> {
    Own(&'a Arc<Opened>),
    InTurn(Arc<Opened>),
}

impl Deref for Held<'_> {
    type Target = Arc<Opened>;

    #[inline]
    fn deref(&self) -> &Arc<Opened> {
        match self {
            Held::Own(opened) => opened,
            Held::InTurn(opened) => opened,
        }
    }
}

impl Store {
    /// Opens a data file with the default [`OpenOptions`].
    ///
    /// # Errors
    /// As [`Store::open_with`].
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        Store::open_with(&OpenOptions::new(), path)
    }

    /// Opens a data file. With a sidecar this costs the same for any number of records; without one the file is scanned.
    ///
    /// # Errors
    /// `Io`; `StaleIndex`, `IndexMismatch`, `IndexCorrupt`, `IndexVersion`, `IndexFormat` where there is a sidecar that
    /// cannot be used (it is never rebuilt silently); without one the first fault of the file as [`Index::build`]
    /// names it.
    pub fn open_with(options: &OpenOptions, path: impl AsRef<Path>) -> Result<Store> {
        let path = path.as_ref();
        open(options, path, 0).map_err(|error| error.at_path(path))
    }

    /// Opens many data files, several at once, and returns them in the order given.
    ///
    /// # Errors
    /// As [`Store::open_with`]: the error of the first file in the order given that cannot be opened.
    pub fn open_all(options: &OpenOptions, paths: &[PathBuf]) -> Result<Vec<Store>> {
        let at_once = AT_ONCE.min(paths.len()).max(1);
        let threads = SCANNING / at_once;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut opened = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(number) else { return opened };
                let store = open(options, path, threads).map_err(|error| error.at_path(path));
                // Others stop early too, but not before those in front of it are done.
                if store.is_err() {
                    next.fetch_add(paths.len(), Ordering::Relaxed);
                }
                opened.push((number, store));
            }
        };
        let mut stores: Vec<(usize, Result<Store>)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..at_once).map(|_| scope.spawn(work)).collect();
            let mut stores = work();
            for other in others {
                match other.join() {
                    Ok(opened) => stores.extend(opened),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            stores
        });
        stores.sort_by_key(|(number, _)| *number);
        stores.into_iter().map(|(_, store)| store).collect()
    }

    /// Opens a data file by walking over its frames, whatever sidecar it has, and writes none: for those who check or
    /// repair files. Where a frame cannot be walked over, the store holds the records before it, and the error tells
    /// what is wrong there.
    ///
    /// # Errors
    /// `Io` where the file cannot be read.
    pub fn scan(options: &OpenOptions, path: impl AsRef<Path>) -> Result<(Store, Option<Error>)> {
        let path = path.as_ref();
        let scan = index::scan_file(path, 0).map_err(|error| error.at_path(path))?;
        let store = Store::new(options, path, Index::from_frames(&scan.frames), None);
        Ok((store.map_err(|error| error.at_path(path))?, scan.problem))
    }

    fn new(options: &OpenOptions, path: &Path, index: Index, sidecar: Option<PathBuf>) -> Result<Store> {
        let (len, data_len, checksum) = (index.len(), index.data_len(), index.checksum()?);
        let place = match sidecar {
            Some(sidecar) if !index.is_small() => IndexPlace::Sidecar(sidecar),
            Some(_) => IndexPlace::Memory(Arc::new(index.into_memory()?)),
            None => IndexPlace::Memory(Arc::new(index)),
        };
        let (path, id) = (path.into(), pool::new_id());
        let (access, verify) = (options.get_access(), options.get_verify());
        Ok(Store { path, id, len, data_len, checksum, access, verify, index: place, opened: OnceLock::new() })
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True where there is no record.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The data file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length of the data file in bytes.
    pub fn data_len(&self) -> u64 {
        self.data_len
    }

    /// The CRC-32C of the index's body: the same for the same data, whether the index was read or built in memory.
    pub fn index_checksum(&self) -> u32 {
        self.checksum
    }

    /// True where reads are slices of a map. Opens the file if it is not open yet.
    pub fn is_mapped(&self) -> bool {
        self.opened().is_ok_and(|opened| opened.data().is_mapped())
    }

    /// Where record `i` is.
    ///
    /// # Errors
    /// `InvalidArgument` from [`len`](Store::len) on; `IndexCorrupt`; `Io`.
    pub fn span(&self, i: u64) -> Result<Span> {
        let opened = self.opened().map_err(|error| self.place(error, i))?;
        let entry = self.entry(&opened, i)?;
        Ok(Span { offset: entry.offset, payload_len: payload_len(entry) })
    }

    /// Record `i`, verified. From a map without a copy: some 60 ns and the CRC's time where index and data are in the
    /// processor's cache, and two waits for memory more where they are not (see [`get_many`](Store::get_many)).
    ///
    /// # Errors
    /// `InvalidArgument` from [`len`](Store::len) on; `CorruptData`, `StaleIndex`, `IndexMismatch` or `IndexCorrupt`
    /// where record and index disagree; `SourceChanged` where the file was cut; `Io`.
    pub fn get(&self, i: u64) -> Result<Record> {
        let opened = self.opened().map_err(|error| self.place(error, i))?;
        let entry = self.entry(&opened, i)?;
        let at = |error: Error| self.place(error, i).at_offset(entry.offset);
        let Some(all) = opened.data().mapped().filter(|_| opened.is_permanent()) else {
            let mut payload = Vec::new();
            append(&opened, self.verify, entry, &mut payload).map_err(at)?;
            return Ok(Record::owned(self.path.clone(), payload, i, entry.offset));
        };
        let frame = touch(&opened, all, entry).map_err(at)?;
        let (header, payload, footer) = split(frame);
        check(&opened, self.verify, entry, header, payload, footer).map_err(at)?;
        let start = entry.offset as usize + HEADER_LEN;
        let range = start..start + payload.len();
        Ok(Record::mapped(Arc::clone(&opened), range, i, entry.offset))
    }

    /// Reads the payload of record `i` into `buf`, replacing what is there, and verifies it there: what was verified is
    /// what is in `buf`. Does not allocate once `buf` is large enough. On error the contents of `buf` are unspecified.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn read_into(&self, i: u64, buf: &mut Vec<u8>) -> Result<()> {
        buf.clear();
        self.append(i, buf)
    }

    /// Whether these bytes of the data file are in memory; `None` where that cannot be told.
    pub(crate) fn is_resident(&self, range: Range<u64>) -> Option<bool> {
        self.opened().ok()?.data().is_resident(range)
    }

    /// Asks the system to have these byte ranges of the data file in memory soon, without waiting.
    pub fn advise_willneed(&self, ranges: &[Range<u64>]) {
        if let Ok(opened) = self.opened() {
            ranges.iter().for_each(|range| opened.data().advise_willneed(range.clone()));
        }
    }

    /// Checks the index's checksum and every record. Reads everything.
    ///
    /// # Errors
    /// The first error met, as for [`Store::get`] with [`Verify::Full`].
    pub fn verify(&self) -> Result<()> {
        let opened = self.opened()?;
        opened.index().check_body().map_err(|error| error.at_path(&*self.path))?;
        let mut buf = Vec::new();
        for i in 0..self.len {
            let entry = self.entry(&opened, i)?;
            let at = |error: Error| self.place(error, i).at_offset(entry.offset);
            buf.clear();
            append(&opened, Verify::Full, entry, &mut buf).map_err(at)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn entry(&self, opened: &Opened, i: u64) -> Result<Entry> {
        if i >= self.len {
            let reason = format!("there is no record {i}, the file has {}", self.len);
            return Err(Error::invalid(reason).at_path(&*self.path));
        }
        opened.index().entry(i).map_err(|error| self.place(error, i))
    }

    #[cold]
    pub(super) fn place(&self, error: Error, i: u64) -> Error {
        error.at_path(&*self.path).at_record(i)
    }

    /// The open file, with its first and last frame found to be as indexed.
    #[inline]
    pub(super) fn opened(&self) -> Result<Held<'_>> {
        let held = match self.opened.get() {
            Some(opened) => Held::Own(opened),
            None => self.open_now()?,
        };
        if !held.proven().load(Ordering::Relaxed) {
            index::check_ends(held.index(), held.data()).map_err(|error| error.at_path(&*self.path))?;
            held.proven().store(true, Ordering::Relaxed);
        }
        Ok(held)
    }

    #[cold]
    fn open_now(&self) -> Result<Held<'_>> {
        // What it takes is known only after opening: a map each, or a descriptor each.
        let index = i64::from(matches!(self.index, IndexPlace::Sidecar(_)));
        let mapped = i64::from(self.access != Access::Read);
        let read = i64::from(self.access != Access::Map);
        match Permit::take(mapped + index, read + index) {
            Some(permit) => {
                let opened = Arc::new(self.open_files(Some(permit))?);
                Ok(Held::Own(self.opened.get_or_init(|| opened)))
            }
            None => pool::in_turn(self.id, || self.open_files(None)).map(Held::InTurn),
        }
    }

    fn open_files(&self, mut permit: Option<Permit>) -> Result<Opened> {
        let data = DataFile::open(&self.path, self.access)?;
        if data.len() < self.data_len {
            let reason =
                format!("the file has {} bytes, but had {} when it was opened", data.len(), self.data_len);
            return Err(Error::new(ErrorKind::SourceChanged, reason).at_path(&*self.path));
        }
        data.advise_random();
        let index = match &self.index {
            IndexPlace::Memory(index) => index.clone(),
            IndexPlace::Sidecar(sidecar) => Arc::new(self.reopen(sidecar)?),
        };
        if let Some(permit) = &mut permit {
            let mapped = i64::from(data.is_mapped()) + i64::from(index.is_mapped());
            let read = i64::from(data.holds_descriptor()) + i64::from(index.holds_descriptor());
            permit.settle(mapped, read);
        }
        Ok(Opened::new(self.path.clone(), data, index, permit))
    }

    fn reopen(&self, sidecar: &Path) -> Result<Index> {
        // Nobody but us writes sidecars, by renaming: on a local disk they are mapped, however the data is read.
        let access = if self.access == Access::Map { Access::Map } else { Access::Auto };
        let index = Index::open_sidecar(sidecar, access)?;
        if index.len() == self.len && index.data_len() == self.data_len && index.checksum()? == self.checksum
        {
            return Ok(index);
        }
        Err(Error::new(ErrorKind::SourceChanged, "the index was replaced while it was open")
            .at_path(sidecar)
            .with_help("open the data again"))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.opened.get().is_none() {
            pool::forget(self.id);
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).field("len", &self.len).finish_non_exhaustive()
    }
}

fn open(options: &OpenOptions, path: &Path, threads: usize) -> Result<Store> {
    let data = DataFile::open(path, Access::Read)?;
    let places = index::locate(path, options.get_index_dir());
    let found = match index::find(&places)? {
        Some(sidecar) => Built::Saved(sidecar),
        None => without_sidecar(options, path, &data, &places, threads)?,
    };
    let (index, sidecar) = match found {
        Built::Memory(index) => (index, None),
        Built::Saved(sidecar) => {
            let index = Index::open_sidecar(&sidecar, Access::Read)?;
            index::check_len(&index, &data)?;
            (index, Some(sidecar))
        }
    };
    Store::new(options, path, index, sidecar)
}

fn without_sidecar(
    options: &OpenOptions,
    path: &Path,
    data: &DataFile,
    places: &[PathBuf],
    threads: usize,
) -> Result<Built> {
    // An empty file needs no index to say that it is empty.
    if data.len() == 0 {
        return Ok(Built::Memory(Index::from_parts(&[], &[], 0)));
    }
    let built = match options.get_missing_index() {
        MissingIndex::Fail => return Err(index::missing(path)),
        MissingIndex::Build => index::build_or_wait(path, places, threads),
        MissingIndex::InMemory => Index::build_with(path, threads).map(Built::Memory),
    };
    match built {
        Err(error) if options.get_whole_records() && error.is_corruption() => {
            let scan = index::scan_file(path, 0)?;
            if scan.frames.offsets.is_empty() {
                return Err(error);
            }
            log::warn!("{error}; opened the {} whole records before it", scan.frames.offsets.len());
            Ok(Built::Memory(Index::from_frames(&scan.frames)))
        }
        other => other,
    }
}

fn payload_len(entry: Entry) -> u64 {
    entry.end - entry.offset - (HEADER_LEN + FOOTER_LEN) as u64
}

/// The whole frame in the map. Where the touch of an end waits for a disk, the rest is asked for at once; the last byte is
/// touched too, because the first one shares its page with the record before.
#[inline]
fn touch<'a>(opened: &Opened, all: &'a [u8], entry: Entry) -> Result<&'a [u8]> {
    // Indexed offsets lie inside the indexed length, and the map is at least that long.
    let frame = all
        .get(entry.offset as usize..entry.end as usize)
        .ok_or_else(|| Error::new(ErrorKind::IndexMismatch, "the file ends before the indexed record"))?;
    if let [first, .., last] = frame
        && frame.len() as u64 > LARGE
        && (waits_for(first) || waits_for(last))
    {
        opened.ask_for(entry);
    }
    Ok(frame)
}

/// Whether the touch of a mapped byte takes so long that a disk was waited for.
#[inline]
fn waits_for(byte: &u8) -> bool {
    let before = Instant::now();
    // Hidden from the compiler, which would else read it before the clock.
    std::hint::black_box(*std::hint::black_box(byte));
    before.elapsed() > SLOW
}

#[inline]
fn split(frame: &[u8]) -> (&[u8], &[u8], u32) {
    let (header, rest) = frame.split_at(HEADER_LEN);
    let (payload, footer) = rest.split_at(rest.len() - FOOTER_LEN);
    (header, payload, footer.first_chunk().copied().map_or(0, u32::from_le_bytes))
}

/// Reads a payload behind what is in `buf`, and verifies it there. On error there may be anything behind it.
#[inline]
pub(super) fn append(opened: &Opened, verify: Verify, entry: Entry, buf: &mut Vec<u8>) -> Result<()> {
    let (data, start) = (opened.data(), buf.len());
    if let Some(all) = data.mapped() {
        let (header, payload, footer) = split(touch(opened, all, entry)?);
        buf.try_reserve(payload.len()).map_err(|_| too_large())?;
        buf.extend_from_slice(payload);
        return check(opened, verify, entry, header, &buf[start..], footer);
    }
    let len = usize::try_from(entry.end - entry.offset).map_err(|_| too_large())? - HEADER_LEN;
    if HEADER_LEN + len <= SMALL {
        buf.try_reserve(HEADER_LEN + len).map_err(|_| too_large())?;
        buf.resize(start + HEADER_LEN + len, 0);
        data.read_at(&mut buf[start..], entry.offset)?;
        let (header, payload, footer) = split(&buf[start..]);
        check(opened, verify, entry, header, payload, footer)?;
        let payload_len = payload.len();
        buf.copy_within(start + HEADER_LEN..start + HEADER_LEN + payload_len, start);
        buf.truncate(start + payload_len);
        return Ok(());
    }
    // Payload and footer first: they bring the header's page in with them.
    buf.try_reserve(len).map_err(|_| too_large())?;
    buf.resize(start + len, 0);
    data.read_at(&mut buf[start..], entry.offset + HEADER_LEN as u64)?;
    let mut header = [0; HEADER_LEN];
    data.read_at(&mut header, entry.offset)?;
    let footer = buf.last_chunk().copied().map_or(0, u32::from_le_bytes);
    buf.truncate(start + len - FOOTER_LEN);
    check(opened, verify, entry, &header, &buf[start..], footer)
}

#[cold]
fn too_large() -> Error {
    Error::new(ErrorKind::Io(std::io::ErrorKind::OutOfMemory), "the record does not fit into memory")
}

/// Checks a frame against its index entry, as far as asked for.
#[inline]
fn check(
    opened: &Opened,
    verify: Verify,
    entry: Entry,
    header: &[u8],
    payload: &[u8],
    footer: u32,
) -> Result<()> {
    let agrees = match verify {
        // The length alone, so that a damaged index cannot give a part of another record.
        Verify::Off => header.first_chunk().copied().map(u64::from_le_bytes) == Some(payload_len(entry)),
        _ => index::header_agrees(header, entry),
    };
    if !agrees {
        return Err(index::blame(opened.index(), None));
    }
    if footer == entry.crc && verify != Verify::Full {
        return Ok(());
    }
    let crcs = Crcs { payload: crc::masked(payload), footer, indexed: entry.crc };
    if crcs.payload == footer && footer == entry.crc {
        return Ok(());
    }
    Err(index::blame(opened.index(), Some(crcs)))
}
