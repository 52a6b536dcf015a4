//! Checks the payloads of frames that are known, in several threads.

use std::ops::Range;
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

/// Pages that are looked at to tell whether a range is in memory.
const SAMPLES: u64 = 8;

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
    // The disk fetches what comes next while this is looked at. Each chunk is asked for once, and not where it is in
    // memory: the system would look at every page of it, which takes a tenth of the time of the check.
    let ask_for = |chunk: usize| {
        let Some(&(from, to)) = chunks.get(chunk) else { return };
        let range = frames.offsets[from]..frames.offset(to);
        if !in_memory(file, range.clone()) {
            file.advise_willneed(range);
        }
    };
    let ahead = threads + 1;
    (0..ahead).for_each(ask_for);
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    let work = || {
        let mut buf = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(from, to)) = chunks.get(number) else { return };
            ask_for(number + ahead);
            let found = Chunk { file, frames, first, from, to, inspect }.check(&mut buf);
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

/// What to walk over before the payloads in `range` of `file` are checked: `file` itself where it is mapped and in
/// memory, since its pages are needed anyway; else `read`, a part of which is enough.
pub(crate) fn to_walk<'a>(file: &'a DataFile, read: &'a DataFile, range: Range<u64>) -> &'a DataFile {
    let range = range.start..range.end.min(file.len());
    // Of two lengths, where somebody writes to the file, the one opened first counts.
    let same = file.len() == read.len();
    if same && file.is_mapped() && in_memory(file, range) { file } else { read }
}

/// True where a sample of the pages of a map is in memory.
fn in_memory(file: &DataFile, range: Range<u64>) -> bool {
    let step = (range.end - range.start) / SAMPLES;
    let mut sample = (0..SAMPLES).map(|sample| range.start + sample * step + step / 2);
    sample.all(|at| file.is_resident(at..at + 1) == Some(true))
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
        self.frames.offset(frame)
    }

    fn check(&self, buf: &mut Vec<u8>) -> Vec<(usize, Error)> {
        let (start, end) = (self.offset(self.from), self.offset(self.to));
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

fn fill(file: &DataFile, buf: &mut Vec<u8>, range: Range<u64>) -> Result<()> {
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
