//! The index of a data file: where each record's frame begins, and the CRC in its footer.

mod build;
mod damage;
mod format;
mod identity;
mod payload;
mod scan;
mod sidecar;
mod state;
mod text;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::file::{self, Access, DataFile};
use crate::frame;

pub use build::{BuildEvent, BuildReport, BuildStatus, IndexBuilder};
pub(crate) use build::{Built, build_or_wait, scan_file};
pub(crate) use damage::{bad_header, diagnose, zeros_to_eof};
pub(crate) use identity::{Crcs, blame, check_ends, check_len, header_agrees};
pub(crate) use payload::{Inspect, check as check_payloads, to_walk};
pub(crate) use scan::{Frames, find_header, scan};
pub(crate) use sidecar::{find, locate, missing, remove as remove_sidecar, save_at, sync_folder};

pub use state::IndexState;

use format::Header;

/// Where a record is in its data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The offset in bytes of the frame's first byte. The payload begins 12 bytes later.
    pub offset: u64,
    /// The length in bytes of the payload.
    pub payload_len: u64,
}

/// The frame of a record as indexed: where it begins and ends, and its footer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) crc: u32,
}

/// The index of one data file, in memory or mapped from its sidecar.
///
/// Looking up a record costs the same whatever the number of records, and so does opening.
/// The format of the sidecar is described in `docs/index-format.md`.
pub struct Index {
    header: Header,
    body: Body,
    /// The sidecar it was read from, for messages.
    sidecar: Option<PathBuf>,
}

enum Body {
    Memory(Vec<u8>),
    File(DataFile),
}

impl Index {
    /// Builds the index of a data file in memory, from the frames' headers and footers alone. Nothing is written.
    ///
    /// # Errors
    /// `Io`, or what is wrong at the first frame that cannot be walked over: `Truncated`, `CorruptLength`,
    /// `LengthPastEnd`, `TrailingBytes`, `NotTfrecord`, `Compressed`. Payloads are not looked at.
    pub fn build(data: impl AsRef<Path>) -> Result<Index> {
        Index::build_with(data.as_ref(), 0)
    }

    /// As [`build`](Index::build), with at most so many threads (0: as many as are useful).
    pub(crate) fn build_with(data: &Path, threads: usize) -> Result<Index> {
        let scan = build::scan_file(data, threads)?;
        match scan.problem {
            None => Ok(Index::from_frames(&scan.frames)),
            Some(error) => Err(error),
        }
    }

    /// Opens the sidecar of a data file, in its usual place (or in `TFRMAP_INDEX_DIR`). Costs the same for any
    /// number of records. Whether it belongs to the data is for [`Index::check`].
    ///
    /// # Errors
    /// `Io` with `NotFound` where there is none; `IndexCorrupt`, `IndexVersion`, `IndexFormat`.
    pub fn open(data: impl AsRef<Path>) -> Result<Index> {
        let data = data.as_ref();
        let places = sidecar::locate(data, None);
        match sidecar::find(&places)? {
            Some(path) => Index::open_sidecar(&path, Access::Auto),
            None => Err(sidecar::missing(data)),
        }
    }

    /// Writes the index as the sidecar of a data file, and returns the sidecar's path: to a temporary name, fsynced,
    /// then renamed.
    ///
    /// # Errors
    /// `Io` where the folder cannot be written.
    pub fn save(&self, data: impl AsRef<Path>) -> Result<PathBuf> {
        let places = sidecar::locate(data.as_ref(), None);
        sidecar::save_at(&places[0], &self.to_bytes()?)?;
        Ok(places[0].clone())
    }

    /// Where the sidecar of a data file is written: `DIR/.tfrmap/NAME.tfri` for `DIR/NAME`, or `NAME.tfri` in
    /// `index_dir`, or in the folder that `TFRMAP_INDEX_DIR` names. A symbolic link is followed first.
    pub fn sidecar_path(data: impl AsRef<Path>, index_dir: Option<&Path>) -> PathBuf {
        sidecar::locate(data.as_ref(), index_dir).swap_remove(0)
    }

    /// Checks that the index is whole and belongs to a data file: its checksum, the file's length, and the header and
    /// footer of every record. Payloads are not read: see [`Store::verify`](crate::Store::verify).
    ///
    /// # Errors
    /// `IndexCorrupt`, `StaleIndex`, `IndexMismatch`, `CorruptData`, `Io`.
    pub fn check(&self, data: impl AsRef<Path>) -> Result<()> {
        let data = data.as_ref();
        let check = || -> Result<()> {
            let file = DataFile::open(data, Access::Read)?;
            file.advise_random();
            self.check_body()?;
            identity::check_len(self, &file)?;
            identity::check_ends(self, &file)?;
            (0..self.len()).try_for_each(|i| identity::check_frame(self, &file, i))
        };
        check().map_err(|error| error.at_path(data))
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.header.count
    }

    /// True where the data file holds no record.
    pub fn is_empty(&self) -> bool {
        self.header.count == 0
    }

    /// The length in bytes of the data file that was indexed.
    pub fn data_len(&self) -> u64 {
        self.header.data_len
    }

    /// Where record `i` is, or `None` from [`len`](Index::len) on or where the entry makes no sense.
    pub fn get(&self, i: u64) -> Option<Span> {
        let entry = (i < self.len()).then(|| self.entry(i))?.ok()?;
        Some(Span { offset: entry.offset, payload_len: entry.end - entry.offset - frame::OVERHEAD })
    }

    /// The CRC-32C over all offsets and CRCs, as the sidecar holds it: equal for an index built anew of equal data.
    ///
    /// # Errors
    /// `Io` where the index is read and that fails.
    pub fn checksum(&self) -> Result<u32> {
        let at = self.header.checksum_at().ok_or_else(|| format::corrupt("has an absurd count"))?;
        let mut bytes = [0; 4];
        self.read(&mut bytes, at)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Opens a sidecar.
    pub(crate) fn open_sidecar(path: &Path, access: Access) -> Result<Index> {
        let file = DataFile::open(path, access)?;
        let mut head = [0; format::HEADER_LEN];
        let head = &mut head[..file.len().min(format::HEADER_LEN as u64) as usize];
        file.read_at(head, 0).map_err(|error| error.at_path(path))?;
        let header = Header::parse(head, file.len()).map_err(|error| error.at_path(path))?;
        Ok(Index { header, body: Body::File(file), sidecar: Some(path.into()) })
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> String {
        self.sidecar
            .as_ref()
            .map_or_else(|| "the index".into(), |path| format!("the index {}", path.display()))
    }

    /// True where holding the index in memory costs less than holding it open.
    pub(crate) fn is_small(&self) -> bool {
        self.len() < 80
    }

    /// The same index in memory.
    pub(crate) fn into_memory(self) -> Result<Index> {
        Ok(Index { body: Body::Memory(self.to_bytes()?), ..self })
    }

    /// An index in memory.
    pub(crate) fn from_frames(frames: &scan::Frames) -> Index {
        Index::from_parts(&frames.offsets, &frames.crcs, frames.end)
    }

    /// An index in memory, of frames that begin at `offsets`, have the footers `crcs`, and end at `end`.
    pub(crate) fn from_parts(offsets: &[u64], crcs: &[u32], end: u64) -> Index {
        let header = Header { count: offsets.len() as u64, data_len: end };
        Index { header, body: Body::Memory(format::encode(offsets, crcs, end)), sidecar: None }
    }

    /// The frame of record `i`, which must be less than [`len`](Index::len).
    ///
    /// # Errors
    /// `IndexCorrupt` where the entry cannot be a frame of the file; `Io` where the index is read and that fails.
    #[inline]
    pub(crate) fn entry(&self, i: u64) -> Result<Entry> {
        let place = format::HEADER_LEN as u64 + 8 * i;
        let crc_place = format::HEADER_LEN as u64 + 8 * (self.header.count + 1) + 4 * i;
        let (offset, end, crc) = match self.bytes() {
            Some(bytes) => {
                let place = place as usize;
                let offset = format::read_u64(bytes, place);
                (offset, format::read_u64(bytes, place + 8), format::read_u32(bytes, crc_place as usize))
            }
            None => {
                let (mut pair, mut crc) = ([0; 16], [0; 4]);
                self.read(&mut pair, place)?;
                self.read(&mut crc, crc_place)?;
                (format::read_u64(&pair, 0), format::read_u64(&pair, 8), u32::from_le_bytes(crc))
            }
        };
        if end > self.header.data_len || end.checked_sub(offset).is_none_or(|len| len < frame::OVERHEAD) {
            return Err(format::corrupt("has an entry that is no frame of the file").at_record(i));
        }
        Ok(Entry { offset, end, crc })
    }

    /// Has the entry of record `i` in the processor's cache soon, without waiting for it.
    #[inline]
    pub(crate) fn prefetch(&self, i: u64) {
        if let (Some(bytes), true) = (self.bytes(), i < self.header.count) {
            let offsets = format::HEADER_LEN + 8 * i as usize;
            let crc = format::HEADER_LEN + 8 * (self.header.count as usize + 1) + 4 * i as usize;
            [offsets, offsets + 15, crc].into_iter().for_each(|at| file::prefetch(bytes, at));
        }
    }

    /// Checks the body against its checksum. Reads it all.
    ///
    /// # Errors
    /// `IndexCorrupt`.
    pub fn check_body(&self) -> Result<()> {
        if self.body_holds() { Ok(()) } else { Err(format::corrupt("does not match its own checksum")) }
    }

    /// True where the body matches its checksum.
    pub(crate) fn body_holds(&self) -> bool {
        let check = || -> Result<bool> {
            let end = self.header.checksum_at().ok_or_else(|| format::corrupt("has an absurd count"))?;
            let mut crc = 0;
            let mut at = format::HEADER_LEN as u64;
            let mut block = vec![0; 1 << 16];
            while at < end {
                let len = (end - at).min(block.len() as u64) as usize;
                self.read(&mut block[..len], at)?;
                crc = crate::crc::append(crc, &block[..len]);
                at += len as u64;
            }
            Ok(crc == self.checksum()?)
        };
        check().unwrap_or(false)
    }

    /// All offsets and CRCs, read into memory.
    pub(crate) fn to_frames(&self) -> Result<scan::Frames> {
        let mut frames = scan::Frames { end: self.header.data_len, ..scan::Frames::default() };
        for i in 0..self.len() {
            let entry = self.entry(i)?;
            frames.offsets.push(entry.offset);
            frames.crcs.push(entry.crc);
        }
        Ok(frames)
    }

    /// The sidecar's bytes.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        match &self.body {
            Body::Memory(bytes) => Ok(bytes.clone()),
            Body::File(file) => {
                let mut bytes = Vec::new();
                let len =
                    usize::try_from(file.len()).ok().filter(|&len| bytes.try_reserve_exact(len).is_ok());
                let kind = ErrorKind::Io(std::io::ErrorKind::OutOfMemory);
                let len = len.ok_or_else(|| Error::new(kind, "the index does not fit into memory"))?;
                bytes.resize(len, 0);
                file.read_at(&mut bytes, 0)?;
                Ok(bytes)
            }
        }
    }

    /// True where it is a map of its sidecar.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(&self.body, Body::File(file) if file.is_mapped())
    }

    /// True where it holds its sidecar open.
    pub(crate) fn holds_descriptor(&self) -> bool {
        matches!(&self.body, Body::File(file) if file.holds_descriptor())
    }

    #[inline]
    fn bytes(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Memory(bytes) => Some(bytes),
            Body::File(file) => file.mapped(),
        }
    }

    fn read(&self, buf: &mut [u8], at: u64) -> Result<()> {
        match (self.bytes(), &self.body) {
            (Some(bytes), _) => {
                let from = at as usize;
                let part =
                    bytes.get(from..from + buf.len()).ok_or_else(|| format::corrupt("is cut short"))?;
                buf.copy_from_slice(part);
                Ok(())
            }
            (None, Body::File(file)) => file.read_at(buf, at),
            (None, Body::Memory(_)) => Err(Error::new(ErrorKind::IndexCorrupt, "the index is cut short")),
        }
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("len", &self.len()).field("data_len", &self.data_len()).finish()
    }
}
