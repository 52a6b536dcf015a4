//! From a data file to the offsets of its frames, reading headers and footers only.
//!
//! A chain of frames is walked by one thread, since a frame's place is known only from the one before. A large file is
//! cut into parts that are walked at once: in each part but the first a thread guesses a frame's beginning (a place
//! where a length matches its CRC). Guesses can be wrong, where payloads hold TFRecord data themselves. So the chain
//! from the start of the file decides: a part's guesses count only from the first offset that this chain reaches.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::file::DataFile;
use crate::frame::{self, FOOTER_LEN, HEADER_LEN};

use super::damage;

/// Consecutive frames: where each begins, the CRC in its footer, and where the last one ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    pub(crate) offsets: Vec<u64>,
    pub(crate) crcs: Vec<u32>,
    pub(crate) end: u64,
}

impl Frames {
    /// Adds frames that follow these.
    pub(crate) fn append(&mut self, next: &Frames) {
        self.offsets.extend_from_slice(&next.offsets);
        self.crcs.extend_from_slice(&next.crcs);
        self.end = next.end;
    }

    /// Where a frame begins; for the number after the last, where that ends.
    pub(crate) fn offset(&self, frame: usize) -> u64 {
        self.offsets.get(frame).copied().unwrap_or(self.end)
    }

    /// True where these are `first` and perhaps more.
    pub(crate) fn begins_with(&self, first: &Frames) -> bool {
        self.offsets.starts_with(&first.offsets)
            && self.crcs.starts_with(&first.crcs)
            && self.end >= first.end
    }
}

/// What a scan found: the frames up to the end asked for, or up to the first that cannot be walked over.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) frames: Frames,
    pub(crate) problem: Option<Error>,
}

/// Records larger than this on average are skipped over with small reads; smaller ones are read through.
const SPARSE: u64 = 24 << 10;
/// Bytes read at once where records are read through.
const BLOCK: usize = 512 << 10;
/// A page: what the system reads at least.
const PAGE: u64 = 4096;
/// A read that takes longer than this has waited for a disk.
const SLOW: Duration = Duration::from_micros(20);
/// A scan that ends within this time needs no threads.
const ALONE: Duration = Duration::from_micros(500);
/// Reads after which it is known whether they wait for a disk.
const TELLING: u32 = 2 * TIMED;
/// One read in so many is measured.
const TIMED: u32 = 4;
/// Reads in flight that keep a disk busy. They wait more than they compute, so this is no matter of cores.
const IN_FLIGHT: usize = 32;
/// How far a part looks for its first guess. A larger record than this is met by the chain before it.
const GUESS_WITHIN: u64 = 8 << 20;
/// Parts smaller than this are not worth a thread.
const PART: u64 = 4 << 20;

/// Walks the chain of frames from `from` to the first frame that begins at or after `until`.
///
/// `file` is opened with [`Access::Read`](crate::file::Access::Read), or mapped and in memory; `first` is the record
/// number of the frame at `from`; `threads` bounds the threads used besides the caller's (0: no bound of its own).
pub(crate) fn scan(file: &DataFile, from: u64, until: u64, first: u64, threads: usize) -> Result<Scan> {
    let until = until.min(file.len());
    if !file.is_mapped() {
        file.advise_random();
    }
    let mut window = Window::new(file);
    let mut frames = Frames { end: from, ..Frames::default() };
    let out_of_time = |window: &Window<'_>| {
        window.reads >= TELLING && window.reads.is_multiple_of(TIMED) && window.started.elapsed() > ALONE
    };
    let mut stop = walk(&mut window, &mut frames, until, out_of_time)?;
    if stop == Stop::Paused {
        let parts = plan(&window, until - frames.end, threads);
        stop = if parts > 1 {
            in_parts(&mut window, &mut frames, until, parts)?
        } else {
            walk(&mut window, &mut frames, until, |_| false)?
        };
    }
    let problem = (stop == Stop::Damaged).then(|| {
        let record = first + frames.offsets.len() as u64;
        damage::diagnose(file, frames.end).at_record(record).at_offset(frames.end)
    });
    Ok(Scan { frames, problem })
}

/// How many parts to cut the rest into.
fn plan(window: &Window<'_>, left: u64, threads: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = match (window.sparse(), window.cold()) {
        (true, true) => IN_FLIGHT,
        (true, false) => cores,
        (false, _) => cores.max(8),
    };
    let cap = if threads == 0 { wanted } else { threads };
    wanted.min(cap).min((left / PART) as usize)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The frame at `end` begins at or after the end asked for.
    Reached,
    /// The frame at `end` cannot be walked over.
    Damaged,
    /// The caller asked to stop.
    Paused,
}

/// Walks on from `frames.end`, asking `pause` now and then whether to stop.
fn walk(
    window: &mut Window<'_>,
    frames: &mut Frames,
    until: u64,
    mut pause: impl FnMut(&Window<'_>) -> bool,
) -> Result<Stop> {
    let file_len = window.file.len();
    while frames.end < until {
        window.walk_inside(frames, until);
        if pause(window) {
            return Ok(if frames.end < until { Stop::Paused } else { Stop::Reached });
        }
        let at = frames.end;
        if at >= until {
            break;
        }
        if file_len - at < HEADER_LEN as u64 {
            return Ok(Stop::Damaged);
        }
        let Some(len) = frame::parse_header(window.at(at, HEADER_LEN)?) else { return Ok(Stop::Damaged) };
        let Ok(end) = frame::end(at, len, file_len) else { return Ok(Stop::Damaged) };
        window.saw(end - at);
        // The next frame's header is asked for together with this one's footer: they are neighbours.
        let footer = end - FOOTER_LEN as u64;
        let want = (file_len - footer).min((FOOTER_LEN + HEADER_LEN) as u64) as usize;
        let crc = window.at(footer, want)?.first_chunk().copied().map_or(0, u32::from_le_bytes);
        frames.offsets.push(at);
        frames.crcs.push(crc);
        frames.end = end;
    }
    Ok(Stop::Reached)
}

/// Walks the rest in `parts` parts at once.
fn in_parts(window: &mut Window<'_>, frames: &mut Frames, until: u64, parts: usize) -> Result<Stop> {
    let (file, from, mean) = (window.file, frames.end, window.mean);
    let bound = |part: usize| from + ((until - from) as u128 * part as u128 / parts as u128) as u64;
    let guesses: Vec<(Frames, Stop)> = std::thread::scope(|scope| {
        let guess = |part| {
            let (start, until) = (bound(part), bound(part + 1));
            scope.spawn(move || guess(file, start, until, mean, part == 0))
        };
        let threads: Vec<_> = (0..parts).map(guess).collect();
        // A part that could not be read is as one without a guess: the chain will meet the same trouble.
        let none = || (Frames { end: u64::MAX, ..Frames::default() }, Stop::Reached);
        threads.into_iter().map(|thread| thread.join().ok().flatten().unwrap_or_else(none)).collect()
    });
    for (part, (guess, stop)) in guesses.into_iter().enumerate() {
        let part_end = bound(part + 1);
        // The true chain goes on alone until it meets the guessed one, leaves the part, or ends.
        let mut position = guess.offsets.binary_search(&frames.end);
        while position.is_err() && frames.end < part_end {
            let next = frames.end + 1;
            if walk(window, frames, next, |_| false)? == Stop::Damaged {
                return Ok(Stop::Damaged);
            }
            position = guess.offsets.binary_search(&frames.end);
        }
        if let Ok(position) = position {
            frames.offsets.extend_from_slice(&guess.offsets[position..]);
            frames.crcs.extend_from_slice(&guess.crcs[position..]);
            frames.end = guess.end;
            if stop == Stop::Damaged {
                return Ok(Stop::Damaged);
            }
        }
    }
    Ok(Stop::Reached)
}

/// The frames of one part, from a guessed first one on; `None` where there is no guess or reading fails.
fn guess(file: &DataFile, start: u64, until: u64, mean: u64, sure: bool) -> Option<(Frames, Stop)> {
    let mut window = Window { mean, ..Window::new(file) };
    let first =
        if sure { start } else { find_header(file, start, until.min(start + GUESS_WITHIN)).ok()?? };
    let mut frames = Frames { end: first, ..Frames::default() };
    let stop = walk(&mut window, &mut frames, until, |_| false).ok()?;
    Some((frames, stop))
}

/// The first offset from `start` to before `until` at which a header stands whose frame fits into the file.
pub(crate) fn find_header(file: &DataFile, start: u64, until: u64) -> Result<Option<u64>> {
    let file_len = file.len();
    let empty = frame::header(0);
    let mut block = vec![0; 64 << 10];
    let mut at = start;
    while at < until && file_len - at >= HEADER_LEN as u64 {
        let len = (file_len - at).min(block.len() as u64) as usize;
        file.read_at(&mut block[..len], at)?;
        let places = (len - HEADER_LEN + 1).min((until - at) as usize);
        for place in 0..places {
            let bytes = &block[place..place + HEADER_LEN];
            // A CRC costs more than a look at the length, which nearly always says no; but for zeros, of which there may be many.
            let claimed = bytes.first_chunk().copied().map_or(u64::MAX, u64::from_le_bytes);
            if claimed <= file_len - (at + place as u64)
                && (claimed != 0 || bytes == empty)
                && frame::parse_header(bytes).is_some()
                && frame::end(at + place as u64, claimed, file_len).is_ok()
            {
                return Ok(Some(at + place as u64));
            }
        }
        at += places as u64;
    }
    Ok(None)
}

/// A part of the file in memory, which moves forward.
struct Window<'a> {
    file: &'a DataFile,
    buf: Vec<u8>,
    /// Where in the file the buffer's bytes begin.
    start: u64,
    /// How many of the buffer's bytes are from the file.
    len: usize,
    /// The mean length of the last frames met, in bytes.
    mean: u64,
    started: Instant,
    reads: u32,
    waited: Duration,
}

impl<'a> Window<'a> {
    fn new(file: &'a DataFile) -> Window<'a> {
        let started = Instant::now();
        Window {
            file,
            buf: Vec::new(),
            start: 0,
            len: 0,
            mean: u64::MAX,
            started,
            reads: 0,
            waited: Duration::ZERO,
        }
    }

    /// Notes the length of a frame.
    fn saw(&mut self, frame_len: u64) {
        self.mean = if self.mean == u64::MAX { frame_len } else { self.mean / 8 * 7 + frame_len / 8 };
    }

    fn sparse(&self) -> bool {
        self.mean > SPARSE
    }

    fn cold(&self) -> bool {
        self.reads > 0 && self.waited / self.reads.div_ceil(TIMED) > SLOW
    }

    /// Walks on over the frames that are wholly in memory.
    fn walk_inside(&mut self, frames: &mut Frames, until: u64) {
        let Some(mut at) = frames.end.checked_sub(self.start).filter(|&at| at < self.len as u64) else {
            return;
        };
        let (bytes, from) = (&self.buf[..self.len], at);
        let before = frames.offsets.len();
        let until = until.saturating_sub(self.start);
        while at < until {
            let here = &bytes[at as usize..];
            let Some(len) = frame::parse_header(here).filter(|&len| len < here.len() as u64) else { break };
            let footer = HEADER_LEN + len as usize;
            let Some(crc) = here.get(footer..).and_then(<[u8]>::first_chunk) else { break };
            frames.offsets.push(self.start + at);
            frames.crcs.push(u32::from_le_bytes(*crc));
            at += (footer + FOOTER_LEN) as u64;
        }
        let walked = frames.offsets.len() - before;
        if walked > 0 {
            frames.end = self.start + at;
            self.saw((at - from) / walked as u64);
        }
    }

    /// `need` bytes from `offset` on, which are known to be inside the file.
    #[inline]
    fn at(&mut self, offset: u64, need: usize) -> Result<&[u8]> {
        let inside = offset.checked_sub(self.start).filter(|&at| at + need as u64 <= self.len as u64);
        let at = match inside {
            Some(at) => at as usize,
            None => {
                self.fill(offset, need)?;
                0
            }
        };
        Ok(&self.buf[at..at + need])
    }

    fn fill(&mut self, offset: u64, need: usize) -> Result<()> {
        // A block, where the next frames will be in it; from a disk to the end of the page, which is fetched anyway.
        let page = (PAGE - (offset + need as u64) % PAGE) % PAGE;
        let want = match (self.sparse(), self.cold()) {
            (false, _) => BLOCK as u64,
            (true, true) => need as u64 + page,
            (true, false) => need as u64,
        };
        let want = want.min(self.file.len() - offset) as usize;
        if self.buf.len() < want {
            self.buf.resize(want, 0);
        }
        self.len = 0;
        // Asking for the time costs a tenth of a warm read, so only some are measured.
        let before = self.reads.is_multiple_of(TIMED).then(Instant::now);
        self.file.read_at(&mut self.buf[..want], offset)?;
        self.waited += before.map_or(Duration::ZERO, |before| before.elapsed());
        self.reads = self.reads.wrapping_add(1);
        (self.start, self.len) = (offset, want);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Access;
    use crate::frame::OVERHEAD;

    /// A payload that holds whole frames, between bytes that are none.
    fn nested(depth: usize, seed: usize) -> Vec<u8> {
        let mut payload = vec![7; seed % 23];
        for i in 0..seed % 5 {
            let inner = if depth == 0 { vec![i as u8; seed % 40] } else { nested(depth - 1, seed / 3 + i) };
            payload.extend_from_slice(&framed(&inner));
        }
        payload.resize(payload.len() + seed % 11, 9);
        payload
    }

    fn framed(payload: &[u8]) -> Vec<u8> {
        let mut frame = frame::header(payload.len() as u64).to_vec();
        frame.extend_from_slice(payload);
        frame.extend_from_slice(&crate::crc::masked(payload).to_le_bytes());
        frame
    }

    fn open(bytes: &[u8]) -> (tempfile::NamedTempFile, DataFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let data = DataFile::open(file.path(), Access::Read).unwrap();
        (file, data)
    }

    /// What the chain from the start gives, and what it gives when it is cut into so many parts.
    fn compare(bytes: &[u8]) {
        let (_keep, file) = open(bytes);
        let mut serial = Frames::default();
        let stop = walk(&mut Window::new(&file), &mut serial, file.len(), |_| false).unwrap();
        for parts in [2, 7, 19] {
            let mut frames = Frames::default();
            let found = in_parts(&mut Window::new(&file), &mut frames, file.len(), parts).unwrap();
            assert_eq!(found, stop, "{parts} parts");
            assert_eq!((&frames.offsets, &frames.crcs), (&serial.offsets, &serial.crcs), "{parts} parts");
            assert_eq!(frames.end, serial.end, "{parts} parts");
        }
    }

    #[test]
    fn frames_inside_of_payloads_fool_nobody() {
        let mut bytes = Vec::new();
        for seed in 0..if cfg!(miri) { 10 } else { 400 } {
            bytes.extend_from_slice(&framed(&nested(3, seed)));
        }
        compare(&bytes);
        // One record that is a whole file of records, and hardly anything else.
        let outer = [framed(b"first"), framed(&bytes), framed(b"last")].concat();
        compare(&outer);
        // Guesses inside of it run to its end and find no frame there.
        assert_eq!(outer.len() as u64, bytes.len() as u64 + 3 * OVERHEAD + 9);
    }

    #[test]
    fn damage_is_found_where_the_chain_meets_it() {
        let frames = if cfg!(miri) { 10 } else { 300 };
        let mut bytes: Vec<u8> = (0..frames).flat_map(|seed| framed(&nested(2, seed))).collect();
        compare(&bytes[..bytes.len() - 1]);
        bytes.extend_from_slice(&[0; 100]);
        compare(&bytes);
        for at in (0..bytes.len()).step_by(bytes.len() / 12) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x20;
            compare(&bytes);
        }
        compare(&[]);
        compare(&[0; 1000]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_scan_may_begin_and_end_anywhere_on_the_chain() {
        let bytes: Vec<u8> = (0..100).flat_map(|seed| framed(&nested(1, seed))).collect();
        let (keep, file) = open(&bytes);
        let all = scan(&file, 0, u64::MAX, 0, 0).unwrap().frames;
        assert_eq!(all.offsets.len(), 100);
        let from = all.offsets[40];
        let rest = scan(&file, from, u64::MAX, 40, 0).unwrap().frames;
        assert_eq!(rest.offsets, all.offsets[40..]);
        let mapped = DataFile::open(keep.path(), Access::Map).unwrap();
        assert_eq!(scan(&mapped, from, u64::MAX, 40, 0).unwrap().frames.offsets, rest.offsets);
        let some = scan(&file, 0, from + 1, 0, 0).unwrap().frames;
        assert_eq!((some.offsets.len(), some.end), (41, all.offsets[41]));
    }
}
