//! What can be had of a damaged file: its whole records, and the byte ranges that are lost.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Access, DataFile};
use crate::frame::{self, FOOTER_LEN, HEADER_LEN};
use crate::index::{self, Span};

/// A part of a file that [`Salvage`] has found. Parts come in the order of the file; together the `Record`s and the
/// `Lost` ones cover it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Salvaged {
    /// A whole record on the chain of frames.
    Record(Span),
    /// Bytes that are no whole record, and why.
    Lost {
        /// The bytes, frames' headers and footers included.
        range: Range<u64>,
        /// What is wrong at their beginning. Its record number counts the records and lost ranges before.
        error: Error,
    },
    /// A frame whose CRCs hold, but which lies inside a lost range: a record that was lost, or a part of the payload of
    /// one, such as a TFRecord file stored inside a record. Nothing tells which. Comes after its lost range.
    Unproven(Span),
}

/// Walks a damaged file and finds every whole record, taking up again at the next header whose CRC holds.
///
/// Reads each payload once to check it. Memory does not grow with the file.
///
/// - A damaged payload: its length is known, so the walk goes on behind it.
/// - A damaged length: where the length, or the length with one bit turned, leads to a frame or to the end of the file,
///   the walk goes on there. Else the next header whose CRC holds and whose frame fits is looked for byte by byte. Where
///   the bytes up to a later header then turn out to be one payload with its CRC, what was found inside is unproven.
///
/// ```no_run
/// # fn main() -> tfrmap::Result<()> {
/// use tfrmap::{Salvage, Salvaged};
/// let mut salvage = Salvage::open("damaged.tfrecord")?;
/// let mut payload = Vec::new();
/// while let Some(part) = salvage.next().transpose()? {
///     match part {
///         Salvaged::Record(span) => salvage.read_into(span, &mut payload)?,
///         Salvaged::Lost { range, error } => eprintln!("{} bytes lost: {error}", range.end - range.start),
///         Salvaged::Unproven(span) => eprintln!("perhaps a record at byte {}", span.offset),
///         _ => {}
///     }
/// }
/// # Ok(()) }
/// ```
pub struct Salvage {
    path: PathBuf,
    file: DataFile,
    at: u64,
    number: u64,
    ready: VecDeque<Salvaged>,
    block: Vec<u8>,
}

/// The longest stretch in which frames found after a damaged length are held back, in case they turn out to be inside
/// of the damaged record.
const HELD_BACK: u64 = 64 << 20;

impl Salvage {
    /// Opens a file.
    ///
    /// # Errors
    /// `Io`; `Compressed` or `NotTfrecord` where the file is something else altogether.
    pub fn open(path: impl AsRef<Path>) -> Result<Salvage> {
        let path = path.as_ref();
        let file = DataFile::open(path, Access::Read)?;
        let salvage = Salvage {
            path: path.into(),
            file,
            at: 0,
            number: 0,
            ready: VecDeque::new(),
            block: vec![0; 256 << 10],
        };
        if salvage.file.len() > 0 && salvage.header(0).map_err(|error| error.at_path(path))?.is_none() {
            let error = index::diagnose(&salvage.file, 0);
            let other = matches!(error.kind(), ErrorKind::Compressed { .. } | ErrorKind::NotTfrecord { .. });
            // A file that begins with zero bytes may go on with records.
            if other && *error.kind() != (ErrorKind::NotTfrecord { hint: "zero bytes" }) {
                return Err(error.at_path(path));
            }
        }
        Ok(salvage)
    }

    /// Reads the payload of a record that was found, replacing what is in `buf`, and checks it again.
    ///
    /// # Errors
    /// `SourceChanged` or `CorruptData` where the file is another by now; `Io`.
    pub fn read_into(&self, span: Span, buf: &mut Vec<u8>) -> Result<()> {
        let mut read = || -> Result<()> {
            let too_large = || {
                let kind = ErrorKind::Io(std::io::ErrorKind::OutOfMemory);
                Error::new(kind, "the record does not fit into memory")
            };
            let len = usize::try_from(span.payload_len).ok().and_then(|len| len.checked_add(FOOTER_LEN));
            let len = len.filter(|&len| len as u64 <= self.file.len()).ok_or_else(too_large)?;
            buf.try_reserve(len.saturating_sub(buf.len())).map_err(|_| too_large())?;
            buf.resize(len, 0);
            self.file.read_at(buf, span.offset.saturating_add(HEADER_LEN as u64))?;
            let footer = buf.last_chunk().copied().map_or(0, u32::from_le_bytes);
            buf.truncate(len - FOOTER_LEN);
            if crc::masked(buf) == footer { Ok(()) } else { Err(frame::corrupt_data(span.offset)) }
        };
        read().map_err(|error| error.at_path(&self.path).at_offset(span.offset))
    }

    /// The length that the header at an offset claims, where its CRC holds.
    fn header(&self, at: u64) -> Result<Option<u64>> {
        if self.file.len().saturating_sub(at) < HEADER_LEN as u64 {
            return Ok(None);
        }
        let mut header = [0; HEADER_LEN];
        self.file.read_at(&mut header, at)?;
        Ok(frame::parse_header(&header))
    }

    /// The frame at an offset, where its header holds and it fits into the file.
    fn frame(&self, at: u64) -> Result<Option<Range<u64>>> {
        Ok(self.header(at)?.and_then(|len| frame::end(at, len, self.file.len()).ok()).map(|end| at..end))
    }

    /// The plain CRC of a range of the file, continued from `crc`.
    fn crc_of(&mut self, range: Range<u64>, mut crc: u32) -> Result<u32> {
        let mut at = range.start;
        while at < range.end {
            let len = (range.end - at).min(self.block.len() as u64) as usize;
            self.file.read_at(&mut self.block[..len], at)?;
            crc = crc::append(crc, &self.block[..len]);
            at += len as u64;
        }
        Ok(crc)
    }

    fn footer(&self, frame_end: u64) -> Result<u32> {
        let mut footer = [0; FOOTER_LEN];
        self.file.read_at(&mut footer, frame_end - FOOTER_LEN as u64)?;
        Ok(u32::from_le_bytes(footer))
    }

    fn is_whole(&mut self, frame: &Range<u64>) -> Result<bool> {
        let payload = frame.start + HEADER_LEN as u64..frame.end - FOOTER_LEN as u64;
        let crc = self.crc_of(payload, 0)?;
        Ok(crc::mask(crc) == self.footer(frame.end)?)
    }

    /// Finds the next parts of the file.
    fn step(&mut self) -> Result<()> {
        let at = self.at;
        match self.frame(at)? {
            Some(frame) if self.is_whole(&frame)? => {
                self.ready.push_back(Salvaged::Record(span(&frame)));
                self.at = frame.end;
                self.number += 1;
            }
            Some(frame) => {
                self.lose(frame.clone(), frame::corrupt_data(at));
                self.find_inside(frame.start + HEADER_LEN as u64..frame.end - FOOTER_LEN as u64)?;
            }
            None => self.resync()?,
        }
        Ok(())
    }

    /// Notes a lost range and goes on behind it.
    fn lose(&mut self, range: Range<u64>, error: Error) {
        let error = error.at_path(&self.path).at_record(self.number).at_offset(range.start);
        self.at = range.end;
        self.number += 1;
        self.ready.push_back(Salvaged::Lost { range, error });
    }

    /// Whole frames within a range that is lost.
    fn find_inside(&mut self, range: Range<u64>) -> Result<()> {
        let mut at = range.start;
        while let Some(start) = index::find_header(&self.file, at, range.end)? {
            at = start + 1;
            if let Some(frame) = self.frame(start)?
                && frame.end <= range.end
                && self.is_whole(&frame)?
            {
                at = frame.end;
                self.ready.push_back(Salvaged::Unproven(span(&frame)));
            }
        }
        Ok(())
    }

    /// Takes up the walk behind a header that cannot be trusted.
    fn resync(&mut self) -> Result<()> {
        let (at, file_len) = (self.at, self.file.len());
        let error = index::diagnose(&self.file, at);
        if let Some(end) = self.likely_end(at)? {
            self.lose(at..end, error);
            return self.find_inside(at + HEADER_LEN as u64..end - FOOTER_LEN as u64);
        }
        let payload = at + HEADER_LEN as u64;
        let mut crc = 0;
        let mut crc_to = payload;
        let mut first = None;
        let mut from = at + 1;
        // Is the damage in the header only? Then the payload's CRC tells where the record ends. Frames found before that
        // were inside of it.
        while let Some(next) = index::find_header(&self.file, from, file_len)? {
            if first.is_some_and(|first| next - first > HELD_BACK) {
                break;
            }
            if next >= payload + FOOTER_LEN as u64 {
                let payload_end = next - FOOTER_LEN as u64;
                crc = self.crc_of(crc_to..payload_end, crc)?;
                crc_to = payload_end;
                if crc::mask(crc) == self.footer(next)? {
                    self.lose(at..next, error);
                    return self.find_inside(payload..payload_end);
                }
            }
            let first = *first.get_or_insert(next);
            // A chain that reaches the end of the file is the file's own: inside a record its footer would follow.
            let Some(end) = self.chain_end(next, first + HELD_BACK)? else { break };
            if end == file_len {
                break;
            }
            from = end;
        }
        self.lose(at..first.unwrap_or(file_len), error);
        Ok(())
    }

    /// Where the frames that follow each other from `start` on end; `None` where that is beyond `limit`.
    fn chain_end(&self, start: u64, limit: u64) -> Result<Option<u64>> {
        let mut at = start;
        while at <= limit {
            match self.frame(at)? {
                Some(frame) => at = frame.end,
                None => return Ok(Some(at)),
            }
        }
        Ok(None)
    }

    /// Where a frame with a damaged header ends, if its length or one a bit away from it leads to another frame or to
    /// the end of the file.
    fn likely_end(&self, at: u64) -> Result<Option<u64>> {
        if self.file.len() - at < HEADER_LEN as u64 {
            return Ok(None);
        }
        let mut header = [0; HEADER_LEN];
        self.file.read_at(&mut header, at)?;
        let as_it_stands = header.first_chunk().copied().map_or(0, u64::from_le_bytes);
        let mut lens = vec![as_it_stands];
        for bit in 0..8 * 8 {
            header[bit / 8] ^= 1 << (bit % 8);
            lens.extend(frame::parse_header(&header));
            header[bit / 8] ^= 1 << (bit % 8);
        }
        for len in lens {
            if let Ok(end) = frame::end(at, len, self.file.len())
                && (end == self.file.len() || self.frame(end)?.is_some())
            {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }
}

fn span(frame: &Range<u64>) -> Span {
    Span { offset: frame.start, payload_len: frame.end - frame.start - frame::OVERHEAD }
}

impl Iterator for Salvage {
    type Item = Result<Salvaged>;

    fn next(&mut self) -> Option<Result<Salvaged>> {
        if self.ready.is_empty()
            && self.at < self.file.len()
            && let Err(error) = self.step()
        {
            // What cannot be read cannot be walked over either.
            self.at = self.file.len();
            return Some(Err(error.at_path(&self.path)));
        }
        self.ready.pop_front().map(Ok)
    }
}
