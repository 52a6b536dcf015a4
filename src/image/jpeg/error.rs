//! What can go wrong in a JPEG file, with the byte at which it did.

use std::error::Error as StdError;
use std::fmt;

/// Why a picture could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The data breaks the format where no decoder could go on.
    Malformed {
        /// What is wrong.
        reason: &'static str,
        /// The byte at which it was noticed.
        offset: usize,
    },
    /// The data ends before the picture does.
    Truncated {
        /// The number of bytes there are.
        offset: usize,
    },
    /// A valid picture of a kind that this decoder does not decode.
    Unsupported {
        /// The kind, in the format's own words.
        what: &'static str,
        /// The byte at which it was noticed.
        offset: usize,
    },
    /// The header announces a picture above the limits; nothing was allocated for it.
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The limit that was met.
        limit: &'static str,
    },
    /// There is not enough memory for a picture that is within the limits.
    OutOfMemory,
    /// The file makes more work than its size warrants: too many scans.
    TooManyScans {
        /// The byte of the scan that went too far.
        offset: usize,
    },
    /// The options ask for what cannot be had: a crop window outside the picture, or gray from CMYK.
    Options {
        /// What cannot be had.
        reason: &'static str,
    },
}

impl Error {
    pub(super) fn malformed(reason: &'static str, offset: usize) -> Error {
        Error::Malformed { reason, offset }
    }

    pub(super) fn unsupported(what: &'static str, offset: usize) -> Error {
        Error::Unsupported { what, offset }
    }

    /// The byte at which the fault was noticed, where it has one.
    pub fn offset(&self) -> Option<usize> {
        match *self {
            Error::Malformed { offset, .. }
            | Error::Truncated { offset }
            | Error::Unsupported { offset, .. }
            | Error::TooManyScans { offset } => Some(offset),
            Error::TooLarge { .. } | Error::OutOfMemory | Error::Options { .. } => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Malformed { reason, offset } => write!(f, "bad JPEG: {reason} at byte {offset}"),
            Error::Truncated { offset } => write!(f, "JPEG ends early, at byte {offset}"),
            Error::Unsupported { what, offset } => {
                write!(f, "JPEG with {what} is not supported, at byte {offset}")
            }
            Error::TooLarge { width, height, limit } => {
                write!(f, "JPEG of {width} x {height} pixels is above the limit of {limit}")
            }
            Error::OutOfMemory => f.write_str("the picture does not fit into memory"),
            Error::TooManyScans { offset } => write!(f, "JPEG has too many scans, at byte {offset}"),
            Error::Options { reason } => f.write_str(reason),
        }
    }
}

impl StdError for Error {}
