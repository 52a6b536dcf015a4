//! Records of a stream, one after the other.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::crc;
use crate::error::{Error, ErrorKind, FramePart, Result};
use crate::file;
use crate::frame::{self, FOOTER_LEN, HEADER_LEN};
use crate::index;
use crate::sniff::{self, Content};

use super::inflate::{Container, Inflate};

/// The longest record read unless told otherwise.
const MAX_LEN: u64 = 8 << 30;
/// A buffer grows by no more than this at a time, so that a claim alone allocates nothing.
const STEP: u64 = 1 << 20;

/// Reads the records of any [`Read`] one after the other, verifying every CRC. gzip and zlib streams are recognised by
/// content and inflated; offsets then count inflated bytes.
///
/// Memory is bounded by the longest record. A record with a damaged payload is an error, and the next call goes on
/// behind it; after any other error the reader is done.
///
/// ```
/// # fn main() -> tfrmap::Result<()> {
/// let mut writer = tfrmap::RecordWriter::new(Vec::new());
/// writer.write(b"alpha")?;
/// let bytes = writer.into_inner();
/// for record in tfrmap::RecordReader::new(&bytes[..]) {
///     assert_eq!(record?, b"alpha");
/// }
/// # Ok(()) }
/// ```
pub struct RecordReader<R: Read> {
    source: Source<R>,
    path: Option<PathBuf>,
    /// The length of the whole, where it is known and not compressed.
    len: Option<u64>,
    max_len: u64,
    offset: u64,
    record: u64,
    done: bool,
}

type Plain<R> = Chain<Cursor<Vec<u8>>, BufReader<R>>;

enum Source<R: Read> {
    New(Option<BufReader<R>>),
    Plain(Plain<R>),
    Inflated(Box<Inflate<BufReader<Plain<R>>>>),
}

impl RecordReader<File> {
    /// Reads a file from its beginning. Errors name the path.
    ///
    /// # Errors
    /// `Io` where it cannot be opened or is no regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<RecordReader<File>> {
        let path = path.as_ref();
        let (file, metadata) = file::open_regular(path)?;
        Ok(RecordReader { path: Some(path.into()), len: Some(metadata.len()), ..RecordReader::new(file) })
    }
}

impl<R: Read> RecordReader<R> {
    /// Reads from where `inner` stands. Buffers itself.
    pub fn new(inner: R) -> RecordReader<R> {
        let source = Source::New(Some(BufReader::with_capacity(256 << 10, inner)));
        RecordReader { source, path: None, len: None, max_len: MAX_LEN, offset: 0, record: 0, done: false }
    }

    /// Takes records with longer payloads than this for an error. The default is 8 GiB.
    pub fn max_record_len(mut self, bytes: u64) -> RecordReader<R> {
        self.max_len = bytes;
        self
    }

    /// The offset of the next frame's first byte, in the inflated stream where it is compressed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the next record, from 0. Records with damaged payloads count.
    pub fn record(&self) -> u64 {
        self.record
    }

    /// Reads the next payload into `buf`, replacing what is there; `false` at the end of the stream.
    ///
    /// # Errors
    /// `CorruptData` (the next call goes on behind the record); `Truncated`, `CorruptLength`, `LengthPastEnd`,
    /// `TrailingBytes`, `NotTfrecord`, `Compressed` (of a kind that is not supported) or `Io`, after which there is no
    /// next record. Each carries record number and offset.
    pub fn read_into(&mut self, buf: &mut Vec<u8>) -> Result<bool> {
        buf.clear();
        if self.done {
            return Ok(false);
        }
        let (record, offset) = (self.record, self.offset);
        let result = self.next_into(buf).map_err(|error| {
            let error = error.at_record(record).at_offset(offset);
            match &self.path {
                Some(path) => error.at_path(path),
                None => error,
            }
        });
        let goes_on = match &result {
            Ok(more) => *more,
            Err(error) => *error.kind() == ErrorKind::CorruptData && self.offset > offset,
        };
        self.done = !goes_on;
        result
    }

    fn next_into(&mut self, buf: &mut Vec<u8>) -> Result<bool> {
        let mut header = [0; HEADER_LEN];
        let got = self.read(&mut header)?;
        if got == 0 {
            return Ok(false);
        }
        let Some(len) = frame::parse_header(&header[..got]) else {
            return Err(self.bad_header(&header[..got]));
        };
        if let Some(file_len) = self.len {
            frame::end(self.offset, len, file_len)?;
        }
        if len > self.max_len {
            let reason = format!("the length claims {len} bytes, more than the {} allowed", self.max_len);
            return Err(Error::new(ErrorKind::LengthPastEnd { claimed: len }, reason).with_help(
                "allow longer records with max_record_len, if the record is meant to be so long",
            ));
        }
        self.read_body(len, buf)?;
        let payload_len = buf.len() - FOOTER_LEN;
        let footer = buf.last_chunk().copied().map_or(0, u32::from_le_bytes);
        buf.truncate(payload_len);
        let offset = self.offset;
        self.offset += len + frame::OVERHEAD;
        self.record += 1;
        if crc::masked(buf) != footer {
            buf.clear();
            return Err(frame::corrupt_data(offset));
        }
        Ok(true)
    }

    /// Payload and footer into `buf`, which grows only as bytes really come.
    fn read_body(&mut self, len: u64, buf: &mut Vec<u8>) -> Result<()> {
        let want = len + FOOTER_LEN as u64;
        while (buf.len() as u64) < want {
            let have = buf.len();
            let step = (want - have as u64).min(STEP.max(have as u64)) as usize;
            if buf.try_reserve(step).is_err() {
                let kind = ErrorKind::Io(io::ErrorKind::OutOfMemory);
                return Err(Error::new(kind, "the record does not fit into memory"));
            }
            buf.resize(have + step, 0);
            let got = self.read(&mut buf[have..])?;
            if got < step {
                return Err(frame::cut_body(self.offset, len, (have + got) as u64));
            }
        }
        Ok(())
    }

    fn bad_header(&mut self, header: &[u8]) -> Error {
        let mut head = header.to_vec();
        if header.len() == HEADER_LEN {
            head.resize(sniff::SNIFF_LEN, 0);
            let more = self.read(&mut head[HEADER_LEN..]).unwrap_or(0);
            head.truncate(HEADER_LEN + more);
        }
        let error = index::bad_header(self.offset, &head, || index::zeros_to_eof(Rest(self)));
        match self.source {
            Source::Inflated(_) if *error.kind() == ErrorKind::CorruptLength => error.with_help(
                "the records before it are whole: keep them with `tfr-index copy --skip-bad`; decompress the file to \
                 look for those after it",
            ),
            _ => error,
        }
    }

    /// Reads until `out` is full or the stream ends, and returns how much was read.
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < out.len() {
            match self.read_some(&mut out[done..]) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        Ok(done)
    }

    fn read_some(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::New(inner) => {
                if let Some(inner) = inner.take() {
                    self.source = recognise(inner)?;
                    if matches!(self.source, Source::Inflated(_)) {
                        self.len = None;
                    }
                    return self.read_some(out);
                }
                Ok(0)
            }
            Source::Plain(plain) => plain.read(out),
            Source::Inflated(inflated) => inflated.read(out),
        }
    }

    fn explain(&self, error: io::Error) -> Error {
        let compressed = matches!(self.source, Source::Inflated(_));
        let damaged = |kind, reason| {
            Error::new(kind, reason)
                .with_help("the records before it are whole: keep them with `tfr-index copy --skip-bad`")
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof if compressed => {
                let kind = ErrorKind::Truncated { part: FramePart::Data, missing: 0 };
                damaged(kind, "the compressed stream ends early".into())
            }
            io::ErrorKind::InvalidData if compressed => damaged(ErrorKind::CorruptData, error.to_string()),
            kind => Error::new(ErrorKind::Io(kind), error.to_string()),
        }
        .with_source(error)
    }
}

/// Looks at the first bytes: a header whose CRC holds is plain whatever else it looks like.
fn recognise<R: Read>(mut inner: BufReader<R>) -> io::Result<Source<R>> {
    let mut head = Vec::new();
    let looked = inner.by_ref().take(sniff::SNIFF_LEN as u64).read_to_end(&mut head);
    // Where some bytes came first, their records do too: the error is met again behind them.
    if head.is_empty() {
        looked?;
    }
    let container = match sniff::content(&head) {
        _ if frame::parse_header(&head).is_some() => None,
        Some(Content::Gzip) => Some(Container::Gzip),
        Some(Content::Zlib) => Some(Container::Zlib),
        _ => None,
    };
    let plain = Cursor::new(head).chain(inner);
    Ok(match container {
        Some(container) => Source::Inflated(Box::new(Inflate::new(BufReader::new(plain), container))),
        None => Source::Plain(plain),
    })
}

struct Rest<'a, R: Read>(&'a mut RecordReader<R>);

impl<R: Read> Read for Rest<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read_some(out)
    }
}

impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        let mut buf = Vec::new();
        match self.read_into(&mut buf) {
            Ok(true) => Some(Ok(buf)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
