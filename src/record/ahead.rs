//! Records that are looked up some time before they are read, so that the waits for memory of many overlap.

use crate::error::Result;
use crate::file;
use crate::index::Entry;

use super::pool::Opened;
use super::store::append;
use super::{Record, Store};

/// Bytes that a processor fetches at once.
const LINE: usize = 64;
/// Of a frame of more bytes the begin and the end are asked for: its other lines follow each other, which processors see.
const SMALL: usize = 4 << 10;

/// Records that [`Store::get_many`] looks up before it reads the first of them.
const GROUP: usize = 16;

/// A record of a [`Store`], and where its index says that it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located {
    i: u64,
    entry: Entry,
}

impl Store {
    /// The records of these numbers, in this order, each as [`get`](Store::get) gives it. Of small records in memory, but
    /// not in the processor's cache, in a third of the time: `get` waits for memory twice, here these waits overlap.
    pub fn get_many<'a>(&'a self, numbers: &'a [u64]) -> impl Iterator<Item = Result<Record>> + 'a {
        numbers.chunks(GROUP).flat_map(|some| {
            if self.is_mapped() {
                some.iter().for_each(|&i| self.prefetch_index(i));
                for &i in some {
                    self.look_up(i);
                }
            }
            some.iter().map(|&i| self.get(i))
        })
    }

    /// Has the index entry of record `i` in the processor's cache soon.
    #[inline]
    pub(crate) fn prefetch_index(&self, i: u64) {
        if let Ok(opened) = self.opened() {
            opened.index().prefetch(i);
        }
    }

    /// Looks record `i` up, and has its frame in the processor's cache soon, or its begin and end where it is large. `None`
    /// where something is wrong, which reading the record tells.
    #[inline]
    pub(crate) fn look_up(&self, i: u64) -> Option<Located> {
        let opened = self.opened().ok()?;
        let entry = self.entry(&opened, i).ok()?;
        if let Some(all) = opened.data().mapped() {
            let (start, end) = (entry.offset as usize, entry.end as usize);
            let until = if end - start <= SMALL { end } else { start + 2 * LINE };
            (start..until).step_by(LINE).for_each(|at| file::prefetch(all, at));
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
        let opened = self.opened().map_err(|error| self.place(error, located.i))?;
        self.append_entry(&opened, *located, buf)
    }

    /// As [`append_located`](Store::append_located), of record `i`.
    pub(crate) fn append(&self, i: u64, buf: &mut Vec<u8>) -> Result<()> {
        let opened = self.opened().map_err(|error| self.place(error, i))?;
        let entry = self.entry(&opened, i)?;
        self.append_entry(&opened, Located { i, entry }, buf)
    }

    #[inline]
    fn append_entry(&self, opened: &Opened, Located { i, entry }: Located, buf: &mut Vec<u8>) -> Result<()> {
        append(opened, self.verify, entry, buf).map_err(|error| self.place(error, i).at_offset(entry.offset))
    }
}
