//! One record that keeps its own bytes alive.

use std::fmt;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use super::pool::Opened;

/// The payload of one record, verified as the [`OpenOptions`](super::OpenOptions) say, and where it came from.
///
/// Holds the map it points into, or its own copy: it outlives the [`Store`](super::Store) it came from. Cheap to clone.
#[derive(Clone)]
pub struct Record {
    bytes: Bytes,
    index: u64,
    offset: u64,
}

#[derive(Clone)]
enum Bytes {
    Mapped { opened: Arc<Opened>, range: Range<usize> },
    Owned { path: Arc<Path>, payload: Arc<Vec<u8>> },
}

impl Record {
    /// A record inside a mapped file; `range` lies inside the map.
    pub(super) fn mapped(opened: Arc<Opened>, range: Range<usize>, index: u64, offset: u64) -> Record {
        Record { bytes: Bytes::Mapped { opened, range }, index, offset }
    }

    pub(super) fn owned(path: Arc<Path>, payload: Vec<u8>, index: u64, offset: u64) -> Record {
        Record { bytes: Bytes::Owned { path, payload: Arc::new(payload) }, index, offset }
    }

    /// The payload.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped { opened, range } => {
                opened.data().mapped().and_then(|all| all.get(range.clone())).unwrap_or_default()
            }
            Bytes::Owned { payload, .. } => payload,
        }
    }

    /// The data file.
    pub fn path(&self) -> &Path {
        match &self.bytes {
            Bytes::Mapped { opened, .. } => opened.path(),
            Bytes::Owned { path, .. } => path,
        }
    }

    /// The record number within its file, from 0.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The offset in bytes within its file of the frame's first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl Deref for Record {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsRef<[u8]> for Record {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("path", &self.path())
            .field("index", &self.index)
            .field("offset", &self.offset)
            .field("len", &self.len())
            .finish()
    }
}
