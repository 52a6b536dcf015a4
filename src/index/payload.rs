//! Checks the payloads of frames that are known, in several threads.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::file::DataFile;
use crate::frame::{self, FOOTER_LEN, HEADER_LEN};

use super::scan::Frames;

/// Bytes of frames that a thread takes at a time.
const CHUNK: u64 = 2 << 20;
/// Bytes read at a time of a record that is larger than a chunk.
const BLOCK: u64 = 256 << 10;

/// Called with the number in the file and the payload of every record that matches its CRC.
pub(crate) type Inspect<'a> = &'a (dyn Fn(u64, &[u8]) -> Result<()> + Sync);

/// Checks the payloads of `frames` against the CRCs in `frames`, and returns every problem in order.
///
/// `first` is the record number of the first frame; `threads` is the number of threads (0: as many as cores).
/// Records for which `inspect` fails are problems too.
pub(crate) fn check(
    file: &DataFile,
    frames: &Frames,
    first: u64,
    threads: usize,
    inspect: Option<Inspect<'_>>,
) -> Vec<Error> {
    let chunks = chunks(frames);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores } else { threads }.min(chunks.len());
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    let work = || {
        let mut buf = Vec::new();
        while let Some(&(from, to)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let chunk = Chunk { file, frames, first, from, to, inspect };
            let found = chunk.check(&mut buf);
            if !found.is_empty() {
                problems.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort_by_key(|(i, _)| *i);
    problems.into_iter().map(|(_, error)| error).collect()
}

/// Ranges of frames of about [`CHUNK`] bytes.
fn chunks(frames: &Frames) -> Vec<(usize, usize)> {
    let mut chunks = Vec::new();
    let mut from = 0;
    while let Some(&start) = frames.offsets.get(from) {
        let more = frames.offsets[from + 1..].partition_point(|&offset| offset < start + CHUNK);
        chunks.push((from, from + 1 + more));
        from += 1 + more;
    }
    chunks
}

struct Chunk<'a> {
    file: &'a DataFile,
    frames: &'a Frames,
    first: u64,
    from: usize,
    to: usize,
    inspect: Option<Inspect<'a>>,
}

impl Chunk<'_> {
    fn offset(&self, frame: usize) -> u64 {
        self.frames.offsets.get(frame).copied().unwrap_or(self.frames.end)
    }

    fn check(&self, buf: &mut Vec<u8>) -> Vec<(usize, Error)> {
        let (start, end) = (self.offset(self.from), self.offset(self.to));
        // The disk fetches what comes next while this is looked at.
        self.file.advise_willneed(start..end + 2 * CHUNK);
        let all = self.file.mapped();
        let mut problems = Vec::new();
        // Several frames are read at once; one that is large is read alone, and in blocks unless it is looked at.
        let mut have = start..start;
        for frame in self.from..self.to {
            let (from, to) = (self.offset(frame), self.offset(frame + 1));
            let result = if let Some(all) = all {
                // The frames were found in this file, so they are inside the map.
                self.look(frame, all.get(from as usize..to as usize).unwrap_or_default())
            } else if to - from > CHUNK && self.inspect.is_none() {
                self.check_in_blocks(frame, buf)
            } else {
                if to > have.end {
                    have = from..to.max(end.min(from + CHUNK));
                    if let Err(error) = fill(self.file, buf, have.clone()) {
                        have = start..start;
                        problems.push((frame, self.place(frame, error)));
                        continue;
                    }
                }
                self.look(frame, &buf[(from - have.start) as usize..(to - have.start) as usize])
            };
            problems.extend(result.err().map(|error| (frame, self.place(frame, error))));
        }
        problems
    }

    fn look(&self, frame: usize, bytes: &[u8]) -> Result<()> {
        let payload = bytes.get(HEADER_LEN..bytes.len().saturating_sub(FOOTER_LEN)).unwrap_or_default();
        if crc::masked(payload) != self.frames.crcs[frame] {
            return Err(frame::corrupt_data(self.offset(frame)));
        }
        self.inspect.map_or(Ok(()), |inspect| inspect(self.first + frame as u64, payload))
    }

    fn check_in_blocks(&self, frame: usize, buf: &mut Vec<u8>) -> Result<()> {
        let (mut at, end) =
            (self.offset(frame) + HEADER_LEN as u64, self.offset(frame + 1) - FOOTER_LEN as u64);
        let mut crc = 0;
        while at < end {
            let to = end.min(at + BLOCK);
            fill(self.file, buf, at..to)?;
            crc = crc::append(crc, buf);
            at = to;
        }
        if crc::mask(crc) == self.frames.crcs[frame] {
            Ok(())
        } else {
            Err(frame::corrupt_data(self.offset(frame)))
        }
    }

    fn place(&self, frame: usize, error: Error) -> Error {
        error.at_record(self.first + frame as u64).at_offset(self.offset(frame))
    }
}

fn fill(file: &DataFile, buf: &mut Vec<u8>, range: std::ops::Range<u64>) -> Result<()> {
    let len = usize::try_from(range.end - range.start).ok();
    let fits = len.filter(|&len| buf.try_reserve(len.saturating_sub(buf.len())).is_ok());
    let Some(len) = fits else {
        return Err(Error::new(
            ErrorKind::Io(std::io::ErrorKind::OutOfMemory),
            "the record does not fit into memory",
        ));
    };
    buf.resize(len, 0);
    file.read_at(buf, range.start)
}
