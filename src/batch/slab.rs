//! The memory of columns whose rows have a known length: split into rows for the threads, joined into one buffer.

use crate::batch::buffer::Buffer;

/// A picture whose size is not known before it is decoded.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) u8s: Vec<u8>,
    pub(crate) f32s: Vec<f32>,
    pub(crate) shape: [usize; 3],
}

/// A column in the making.
#[derive(Debug)]
pub(crate) enum Slab {
    U8(Buffer<u8>),
    F32(Buffer<f32>),
    I64(Buffer<i64>),
    Kept(Vec<Kept>),
}

/// Rows of a column that one thread may write.
#[derive(Debug)]
pub(crate) enum SlabRows<'b> {
    U8(&'b mut [u8]),
    F32(&'b mut [f32]),
    I64(&'b mut [i64]),
    Kept(&'b mut [Kept]),
}

/// One row of a column.
#[derive(Debug)]
pub(crate) enum SlabRow<'b> {
    U8(&'b mut [u8]),
    F32(&'b mut [f32]),
    I64(&'b mut [i64]),
    Kept(&'b mut Kept),
}

impl<'b> SlabRows<'b> {
    /// Splits off the first rows of `len` elements each.
    pub(crate) fn split_off(&mut self, rows: usize, len: usize) -> SlabRows<'b> {
        match self {
            SlabRows::U8(left) => SlabRows::U8(left.split_off_mut(..rows * len).unwrap_or_default()),
            SlabRows::F32(left) => SlabRows::F32(left.split_off_mut(..rows * len).unwrap_or_default()),
            SlabRows::I64(left) => SlabRows::I64(left.split_off_mut(..rows * len).unwrap_or_default()),
            SlabRows::Kept(left) => SlabRows::Kept(left.split_off_mut(..rows).unwrap_or_default()),
        }
    }

    /// Row `i`, of `len` elements.
    #[inline]
    pub(crate) fn row(&mut self, i: usize, len: usize) -> SlabRow<'_> {
        match self {
            SlabRows::U8(rows) => SlabRow::U8(&mut rows[i * len..(i + 1) * len]),
            SlabRows::F32(rows) => SlabRow::F32(&mut rows[i * len..(i + 1) * len]),
            SlabRows::I64(rows) => SlabRow::I64(&mut rows[i * len..(i + 1) * len]),
            SlabRows::Kept(rows) => SlabRow::Kept(&mut rows[i]),
        }
    }
}

impl Slab {
    pub(crate) fn kept(rows: usize) -> Slab {
        Slab::Kept((0..rows).map(|_| Kept::default()).collect())
    }

    pub(crate) fn rows(&mut self) -> SlabRows<'_> {
        match self {
            Slab::U8(values) => SlabRows::U8(values),
            Slab::F32(values) => SlabRows::F32(values),
            Slab::I64(values) => SlabRows::I64(values),
            Slab::Kept(rows) => SlabRows::Kept(rows),
        }
    }

    /// Moves row `from` to `to`, which is not behind it.
    pub(crate) fn move_row(&mut self, from: usize, to: usize, len: usize) {
        match self {
            Slab::U8(values) => values.copy_within(from * len..(from + 1) * len, to * len),
            Slab::F32(values) => values.copy_within(from * len..(from + 1) * len, to * len),
            Slab::I64(values) => values.copy_within(from * len..(from + 1) * len, to * len),
            Slab::Kept(rows) => rows.swap(from, to),
        }
    }

    pub(crate) fn truncate(&mut self, rows: usize, len: usize) {
        match self {
            Slab::U8(values) => values.truncate(rows * len),
            Slab::F32(values) => values.truncate(rows * len),
            Slab::I64(values) => values.truncate(rows * len),
            Slab::Kept(kept) => kept.truncate(rows),
        }
    }

    pub(crate) fn blacken(&mut self, row: usize, len: usize) {
        match self {
            Slab::U8(values) => values[row * len..(row + 1) * len].fill(0),
            Slab::F32(values) => values[row * len..(row + 1) * len].fill(0.0),
            Slab::I64(values) => values[row * len..(row + 1) * len].fill(0),
            Slab::Kept(rows) => rows[row] = Kept::default(),
        }
    }
}
