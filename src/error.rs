//! The one error type: what went wrong, where, and the way out.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate: a [kind](Error::kind) and, where they are known, the file, the record number within
/// that file, the byte offset and the feature key.
///
/// The `Display` text is one line of valid UTF-8 that never holds payload bytes:
/// `FILE: record N at byte OFFSET: feature "KEY": REASON; WAY OUT`, with the parts that are known.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    reason: Cow<'static, str>,
    help: Option<Cow<'static, str>>,
    path: Option<PathBuf>,
    record: Option<u64>,
    offset: Option<u64>,
    feature: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The part of a frame at which a file was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FramePart {
    /// The 8 bytes of the length.
    Length,
    /// The 4 bytes of the length's CRC.
    LengthCrc,
    /// The payload.
    Data,
    /// The 4 bytes of the payload's CRC.
    DataCrc,
}

impl FramePart {
    /// The name used in messages and in the CLI's JSON: `length`, `length_crc`, `data` or `data_crc`.
    pub fn name(self) -> &'static str {
        match self {
            FramePart::Length => "length",
            FramePart::LengthCrc => "length_crc",
            FramePart::Data => "data",
            FramePart::DataCrc => "data_crc",
        }
    }
}

/// What kind of thing went wrong. [`ErrorKind::name`] is the class name that the CLI prints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused or failed: not found, permission, disk full, a read error.
    Io(io::ErrorKind),
    /// The file ends inside a frame (or a compressed stream ends early).
    Truncated {
        /// The part of the frame that is not whole.
        part: FramePart,
        /// Bytes missing from that part, where they can be told.
        missing: u64,
    },
    /// A frame's length does not match its CRC.
    CorruptLength,
    /// A payload does not match its CRC.
    CorruptData,
    /// A frame claims more bytes than the file holds, with a right CRC.
    LengthPastEnd {
        /// The length claimed.
        claimed: u64,
    },
    /// Bytes after the last record that are no record (zero fill).
    TrailingBytes,
    /// The file is something else: text, a Git LFS pointer, HTML, a zip, ...
    NotTfrecord {
        /// What it seems to be.
        hint: &'static str,
    },
    /// The file is compressed (`gzip`, `zlib`, `zstd`, ...) and cannot be read at random.
    Compressed {
        /// The format by its content.
        format: &'static str,
    },
    /// The data is not what was indexed: grown or replaced.
    StaleIndex,
    /// The index belongs to other data than this.
    IndexMismatch,
    /// The index file itself is damaged.
    IndexCorrupt,
    /// The index file was written by a newer version.
    IndexVersion,
    /// The index file is of another tool's format.
    IndexFormat,
    /// A saved state belongs to another data set or another version of the order.
    StateMismatch,
    /// A shard of a `-of-` set is missing.
    MissingShard {
        /// The names of the missing files.
        names: Vec<String>,
    },
    /// Two sets, or two generations of one set, in the same place.
    ShardSetConflict,
    /// A feature that is asked for is not in the record, and has no default.
    MissingFeature,
    /// A feature is of another kind than asked for.
    WrongKind {
        /// The kind asked for.
        expected: &'static str,
        /// The kind found.
        found: &'static str,
    },
    /// A feature has another number of values than asked for, or pictures of a batch differ in size.
    WrongShape {
        /// The number of values found.
        found: u64,
        /// The number of values asked for.
        expected: u64,
    },
    /// The payload is not a valid protocol buffer.
    MalformedProto,
    /// A picture could not be decoded.
    ImageDecode,
    /// A picture is larger than the limits allow.
    ImageTooLarge,
    /// A picture is of a format, or a variant of one, that is not supported.
    UnsupportedImage,
    /// A file changed while it was open.
    SourceChanged,
    /// An argument makes no sense.
    InvalidArgument,
    /// More bad records were met than the error policy allows.
    TooManyErrors,
    /// The output exists and overwriting was not asked for.
    AlreadyExists,
    /// A closure or a codec panicked on a record.
    Panicked,
    /// An error of the caller's own, from [`Error::other`].
    Other,
}

impl ErrorKind {
    /// The class name, as in `verify --json`.
    pub fn name(&self) -> &'static str {
        match self {
            ErrorKind::Io(_) => "Io",
            ErrorKind::Truncated { .. } => "Truncated",
            ErrorKind::CorruptLength => "CorruptLength",
            ErrorKind::CorruptData => "CorruptData",
            ErrorKind::LengthPastEnd { .. } => "LengthPastEnd",
            ErrorKind::TrailingBytes => "TrailingBytes",
            ErrorKind::NotTfrecord { .. } => "NotTfrecord",
            ErrorKind::Compressed { .. } => "Compressed",
            ErrorKind::StaleIndex => "StaleIndex",
            ErrorKind::IndexMismatch => "IndexMismatch",
            ErrorKind::IndexCorrupt => "IndexCorrupt",
            ErrorKind::IndexVersion => "IndexVersion",
            ErrorKind::IndexFormat => "IndexFormat",
            ErrorKind::StateMismatch => "StateMismatch",
            ErrorKind::MissingShard { .. } => "MissingShard",
            ErrorKind::ShardSetConflict => "ShardSetConflict",
            ErrorKind::MissingFeature => "MissingFeature",
            ErrorKind::WrongKind { .. } => "WrongKind",
            ErrorKind::WrongShape { .. } => "WrongShape",
            ErrorKind::MalformedProto => "MalformedProto",
            ErrorKind::ImageDecode => "ImageDecode",
            ErrorKind::ImageTooLarge => "ImageTooLarge",
            ErrorKind::UnsupportedImage => "UnsupportedImage",
            ErrorKind::SourceChanged => "SourceChanged",
            ErrorKind::InvalidArgument => "InvalidArgument",
            ErrorKind::TooManyErrors => "TooManyErrors",
            ErrorKind::AlreadyExists => "AlreadyExists",
            ErrorKind::Panicked => "Panicked",
            ErrorKind::Other => "Other",
        }
    }
}

impl Error {
    /// A new error of a kind, with the reason in a few plain words.
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new(Inner {
            kind,
            reason: reason.into(),
            help: None,
            path: None,
            record: None,
            offset: None,
            feature: None,
            source: None,
        }))
    }

    /// An error of the caller's own, for closures given to this crate: `.map_err(Error::other)?`.
    ///
    /// Its text is the source's text; the file and record are added where the closure was called.
    ///
    /// ```
    /// let e = tfrmap::Error::other("label 12 is not in the list");
    /// assert_eq!(e.to_string(), "label 12 is not in the list");
    /// ```
    pub fn other(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        let source = source.into();
        Error::new(ErrorKind::Other, source.to_string()).with_source(source)
    }

    /// An argument that makes no sense.
    pub(crate) fn invalid(reason: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::InvalidArgument, reason)
    }

    /// An error of the operating system at a path.
    pub(crate) fn io(path: impl Into<PathBuf>, error: io::Error) -> Error {
        let mut new = Error::new(ErrorKind::Io(error.kind()), error.to_string()).at_path(path);
        new.0.source = Some(Box::new(error));
        new
    }

    /// Adds the way out, in the imperative: "run `tfr-index build`".
    pub(crate) fn with_help(mut self, help: impl Into<Cow<'static, str>>) -> Error {
        self.0.help = Some(help.into());
        self
    }

    /// Adds the file, unless one is already named.
    pub(crate) fn at_path(mut self, path: impl Into<PathBuf>) -> Error {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Adds the record number within the file, unless one is already named.
    pub(crate) fn at_record(mut self, record: u64) -> Error {
        self.0.record.get_or_insert(record);
        self
    }

    /// Adds the byte offset within the file, unless one is already named.
    pub(crate) fn at_offset(mut self, offset: u64) -> Error {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Adds the feature key, unless one is already named. Keys are bytes: what is not UTF-8 is shown as `\xNN`.
    pub(crate) fn at_feature(mut self, key: &[u8]) -> Error {
        self.0.feature.get_or_insert_with(|| escape_key(key));
        self
    }

    /// Adds the underlying error.
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.0.source = Some(source.into());
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The record number within [`path`](Error::path), from 0.
    pub fn record(&self) -> Option<u64> {
        self.0.record
    }

    /// The byte offset within [`path`](Error::path); for a record, of the first byte of its frame.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The feature key, with bytes that are not UTF-8 written as `\xNN`.
    pub fn feature(&self) -> Option<&str> {
        self.0.feature.as_deref()
    }

    /// The reason alone, without the place and the way out.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The way out, where one is known.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// True where data on disk is damaged, cut or not what it should be.
    pub fn is_corruption(&self) -> bool {
        use ErrorKind::*;
        matches!(
            self.0.kind,
            Truncated { .. }
                | CorruptLength
                | CorruptData
                | LengthPastEnd { .. }
                | TrailingBytes
                | NotTfrecord { .. }
                | IndexCorrupt
                | MalformedProto
                | ImageDecode
        )
    }

    /// True where an index and its data do not belong together (any more): rebuild the index.
    pub fn is_stale_index(&self) -> bool {
        matches!(self.0.kind, ErrorKind::StaleIndex | ErrorKind::IndexMismatch)
    }

    /// True where the operating system failed.
    pub fn is_io(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Io(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.0;
        if let Some(path) = &e.path {
            write!(f, "{}: ", path.display())?;
        }
        match (e.record, e.offset) {
            (Some(record), Some(offset)) => write!(f, "record {record} at byte {offset}: ")?,
            (Some(record), None) => write!(f, "record {record}: ")?,
            (None, Some(offset)) => write!(f, "byte {offset}: ")?,
            (None, None) => {}
        }
        if let Some(feature) = &e.feature {
            write!(f, "feature \"{feature}\": ")?;
        }
        f.write_str(&e.reason)?;
        if let Some(help) = &e.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error {{ kind: {:?}, message: {:?} }}", self.0.kind, self.to_string())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|s| s as &(dyn StdError + 'static))
    }
}

/// A key as text: UTF-8 as it stands, control characters and other bytes escaped.
pub(crate) fn escape_key(key: &[u8]) -> String {
    let mut text = String::with_capacity(key.len());
    for chunk in key.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_where_and_the_way_out() {
        let e = Error::new(ErrorKind::CorruptData, "the payload does not match its CRC")
            .at_offset(21)
            .at_record(1)
            .at_path("a/b")
            .at_feature(b"image/encoded")
            .with_help("run `tfr-index verify a/b`");
        assert_eq!(
            e.to_string(),
            "a/b: record 1 at byte 21: feature \"image/encoded\": the payload does not match its CRC; \
             run `tfr-index verify a/b`"
        );
        assert_eq!((e.record(), e.offset(), e.feature()), (Some(1), Some(21), Some("image/encoded")));
        assert!(e.is_corruption() && !e.is_stale_index() && !e.is_io());
    }

    #[test]
    fn the_innermost_place_wins() {
        let e = Error::invalid("x").at_path("inner").at_path("outer").at_record(3).at_record(4);
        assert_eq!((e.path(), e.record()), (Some(Path::new("inner")), Some(3)));
    }

    #[test]
    fn keys_that_are_no_text_stay_readable() {
        assert_eq!(escape_key(b"caf\xe9\n\x00 \xc3\xa9"), "caf\\xe9\\n\\u{0} \u{e9}");
    }

    #[test]
    fn a_result_is_one_word() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn the_operating_systems_error_stays_reachable() {
        let e = Error::io("f", io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(e.is_io());
        assert_eq!(*e.kind(), ErrorKind::Io(io::ErrorKind::PermissionDenied));
        assert!(StdError::source(&e).unwrap().is::<io::Error>());
    }
}
