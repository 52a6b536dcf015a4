//! The memory of a run's batches: as much as batches may exist at once, used again and again.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::batch::buffer::Buffer;
use crate::batch::slab::Slab;
use crate::batch::values::Values;

/// Things of one kind that a run makes at first, and uses again later.
///
/// The first ones are made even where used ones are at hand, until there are as many as may be in use at once. So how
/// many there are does not depend on the timing of threads, and is reached within the first batches.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    most: usize,
    /// A forked child may find the lock held for ever.
    process: u32,
    shelf: Mutex<Shelf<T>>,
}

#[derive(Debug)]
struct Shelf<T> {
    made: usize,
    waiting: Vec<T>,
}

impl<T> Pool<T> {
    /// For `most` things in use at once.
    pub(crate) fn new(most: usize) -> Pool<T> {
        let shelf = Mutex::new(Shelf { made: 0, waiting: Vec::new() });
        Pool { most, process: process::id(), shelf }
    }

    /// One to be used again; `None` where one is to be made.
    pub(crate) fn take(&self) -> Option<T> {
        let mut shelf = self.lock()?;
        if shelf.made < self.most {
            shelf.made += 1;
            return None;
        }
        // The last one given back is the likeliest to be in the processor's cache.
        shelf.waiting.pop()
    }

    /// Takes one back; it is freed where enough are waiting.
    pub(crate) fn put(&self, thing: T) {
        let Some(mut shelf) = self.lock() else { return };
        if shelf.waiting.len() < self.most {
            shelf.waiting.push(thing);
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Shelf<T>>> {
        let ours = self.process == process::id();
        ours.then(|| self.shelf.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The memory of the columns whose rows have a known length, by the number of their slab in a batch.
#[derive(Debug, Default)]
pub(crate) struct Recycler {
    columns: Vec<Memory>,
}

/// The memory of one column.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The number of values that the largest batch has.
    len: usize,
    /// Of the first value's address.
    align: usize,
    buffers: Buffers,
}

#[derive(Debug)]
enum Buffers {
    U8(Pool<Buffer<u8>>),
    F32(Pool<Buffer<f32>>),
    I64(Pool<Buffer<i64>>),
    /// Rows have memory of their own.
    Kept,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlabType {
    U8,
    F32,
    I64,
    /// Pictures whose size is not known before they are decoded.
    Kept,
}

impl Memory {
    /// For `most` batches at once of up to `len` values each.
    pub(crate) fn new(of: SlabType, len: usize, align: usize, most: usize) -> Memory {
        let buffers = match of {
            SlabType::U8 => Buffers::U8(Pool::new(most)),
            SlabType::F32 => Buffers::F32(Pool::new(most)),
            SlabType::I64 => Buffers::I64(Pool::new(most)),
            SlabType::Kept => Buffers::Kept,
        };
        Memory { len, align, buffers }
    }
}

impl Recycler {
    pub(crate) fn new(columns: Vec<Memory>) -> Recycler {
        Recycler { columns }
    }

    /// Memory for `rows` rows of `len` values. What is in it is unspecified. `None` where there is no memory for them.
    pub(crate) fn slab(&self, column: usize, rows: usize, len: usize) -> Option<Slab> {
        let memory = &self.columns[column];
        Some(match &memory.buffers {
            Buffers::U8(pool) => Slab::U8(memory.take(pool, rows.checked_mul(len)?)?),
            Buffers::F32(pool) => Slab::F32(memory.take(pool, rows.checked_mul(len)?)?),
            Buffers::I64(pool) => Slab::I64(memory.take(pool, rows.checked_mul(len)?)?),
            Buffers::Kept => Slab::kept(rows),
        })
    }

    /// Takes back what a batch no longer needs.
    pub(crate) fn give_back(&self, column: usize, values: Values) {
        let memory = &self.columns[column];
        match (&memory.buffers, values) {
            (Buffers::U8(pool), Values::UInt8(buffer)) => memory.put(pool, buffer),
            (Buffers::F32(pool), Values::Float32(buffer)) => memory.put(pool, buffer),
            (Buffers::I64(pool), Values::Int64(buffer)) => memory.put(pool, buffer),
            _ => {}
        }
    }
}

impl Memory {
    fn take<T: Copy + Default>(&self, pool: &Pool<Buffer<T>>, len: usize) -> Option<Buffer<T>> {
        let mut buffer = match pool.take() {
            Some(used) => used,
            None => Buffer::zeroed(self.len.max(len), self.align)?,
        };
        buffer.resize(len);
        Some(buffer)
    }

    fn put<T: Copy + Default>(&self, pool: &Pool<Buffer<T>>, buffer: Buffer<T>) {
        if buffer.fits(self.len, self.align) {
            pool.put(buffer);
        }
    }
}

/// Where memory goes that a batch was made in, so that a later one of the same run is made in it: for holders of columns
/// [taken](crate::Batch::take_column) out of batches. A batch that is dropped does so by itself.
#[derive(Clone, Debug)]
pub struct Reuse {
    recycler: Arc<Recycler>,
    column: usize,
}

impl Reuse {
    pub(crate) fn new(recycler: Arc<Recycler>, column: usize) -> Reuse {
        Reuse { recycler, column }
    }

    /// Gives up the values of the column. Where more are waiting than are of use, the memory is freed.
    pub fn give_back(&self, values: Values) {
        self.recycler.give_back(self.column, values);
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    /// Fear: how much memory there is depends on which batch happens to be done first.
    #[test]
    fn as_many_are_made_as_may_be_in_use_and_no_more() {
        let pool = Pool::new(3);
        let mut made = 0;
        let mut take = || {
            pool.take().unwrap_or_else(|| {
                made += 1;
                made
            })
        };
        for _ in 0..3 {
            let one = take();
            pool.put(one);
        }
        let all = [take(), take(), take()];
        assert_eq!(all, [3, 2, 1]);
        let more = take();
        all.into_iter().chain([more]).for_each(|one| pool.put(one));
        assert_eq!(pool.shelf.lock().unwrap().waiting.len(), 3);
        assert_eq!(made, 4);
    }
}
