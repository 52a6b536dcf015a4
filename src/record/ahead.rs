//! Records that are looked up some time before they are read, so that the waits for memory of many overlap.

use crate::error::Result;
use crate::file;
use crate::index::Entry;

use super::Store;
use super::store::append;

/// Bytes that a processor fetches at once.
const LINE: usize = 64;
/// So many lines of a frame are asked for at most.
const LINES: usize = 64;

/// A record of a [`Store`], and where its index says that it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located {
    i: u64,
    entry: Entry,
}

impl Store {
    /// Has the index entry of record `i` in the processor's cache soon.
    #[inline]
    pub(crate) fn prefetch_index(&self, i: u64) {
        if let Ok(opened) = self.opened() {
            opened.index().prefetch(i);
        }
    }

    /// Looks record `i` up, and has its frame in the processor's cache soon, if that is small. `None` where something is
    /// wrong, which reading the record tells.
    #[inline]
    pub(crate) fn look_up(&self, i: u64) -> Option<Located> {
        let opened = self.opened().ok()?;
        let entry = self.entry(&opened, i).ok()?;
        if let Some(all) = opened.data().mapped() {
            let (start, end) = (entry.offset as usize, entry.end as usize);
            (start..end).step_by(LINE).take(LINES).for_each(|at| file::prefetch(all, at));
            file::prefetch(all, end - 1);
        }
        Some(Located { i, entry })
    }

    /// Reads a payload behind what is in `buf`, and verifies it there. On error there may be anything behind it.
    ///
    /// # Errors
    /// As [`Store::get`].
    #[inline]
    pub(crate) fn append_located(&self, located: &Located, buf: &mut Vec<u8>) -> Result<()> {
        let Located { i, entry } = *located;
        let opened = self.opened().map_err(|error| self.place(error, i))?;
        append(&opened, self.verify, entry, buf).map_err(|error| self.place(error, i).at_offset(entry.offset))
    }

    /// As [`append_located`](Store::append_located), of record `i`.
    pub(crate) fn append(&self, i: u64, buf: &mut Vec<u8>) -> Result<()> {
        let opened = self.opened().map_err(|error| self.place(error, i))?;
        let entry = self.entry(&opened, i)?;
        append(&opened, self.verify, entry, buf).map_err(|error| self.place(error, i).at_offset(entry.offset))
    }
}
