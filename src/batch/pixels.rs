//! The memory of picture columns: split into rows for the threads, joined into one buffer, used again.

use std::sync::{Arc, Mutex};

use crate::batch::buffer::Buffer;
use crate::batch::values::Values;
use crate::error::{Error, Result};
use crate::example::row::RowValues;
use crate::image::{ImageSpec, PixelType, PixelsMut};

/// A picture whose size is not known before it is decoded.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) u8s: Vec<u8>,
    pub(crate) f32s: Vec<f32>,
    pub(crate) shape: [usize; 3],
}

/// The pixels of a column in the making.
#[derive(Debug)]
pub(crate) enum Pixels {
    U8(Buffer<u8>),
    F32(Buffer<f32>),
    Kept(Vec<Kept>),
}

/// Rows of a column that one thread may write.
#[derive(Debug)]
pub(crate) enum PixelRows<'b> {
    U8(&'b mut [u8]),
    F32(&'b mut [f32]),
    Kept(&'b mut [Kept]),
}

impl<'b> PixelRows<'b> {
    /// Splits off the first rows of `len` elements each.
    pub(crate) fn split_off(&mut self, rows: usize, len: usize) -> PixelRows<'b> {
        match self {
            PixelRows::U8(left) => PixelRows::U8(left.split_off_mut(..rows * len).unwrap_or_default()),
            PixelRows::F32(left) => PixelRows::F32(left.split_off_mut(..rows * len).unwrap_or_default()),
            PixelRows::Kept(left) => PixelRows::Kept(left.split_off_mut(..rows).unwrap_or_default()),
        }
    }

    /// Row `i`, where rows have a known length.
    pub(crate) fn row(&mut self, i: usize, len: usize) -> Option<PixelsMut<'_>> {
        match self {
            PixelRows::U8(rows) => rows.get_mut(i * len..(i + 1) * len).map(PixelsMut::U8),
            PixelRows::F32(rows) => rows.get_mut(i * len..(i + 1) * len).map(PixelsMut::F32),
            PixelRows::Kept(_) => None,
        }
    }
}

impl Pixels {
    pub(crate) fn rows(&mut self) -> PixelRows<'_> {
        match self {
            Pixels::U8(values) => PixelRows::U8(values),
            Pixels::F32(values) => PixelRows::F32(values),
            Pixels::Kept(rows) => PixelRows::Kept(rows),
        }
    }

    /// Moves row `from` to `to`, which is not behind it.
    pub(crate) fn move_row(&mut self, from: usize, to: usize, len: usize) {
        match self {
            Pixels::U8(values) => values.copy_within(from * len..(from + 1) * len, to * len),
            Pixels::F32(values) => values.copy_within(from * len..(from + 1) * len, to * len),
            Pixels::Kept(rows) => rows.swap(from, to),
        }
    }

    pub(crate) fn truncate(&mut self, rows: usize, len: usize) {
        match self {
            Pixels::U8(values) => values.truncate(rows * len),
            Pixels::F32(values) => values.truncate(rows * len),
            Pixels::Kept(kept) => kept.truncate(rows),
        }
    }

    pub(crate) fn blacken(&mut self, row: usize, len: usize) {
        match self {
            Pixels::U8(values) => values[row * len..(row + 1) * len].fill(0),
            Pixels::F32(values) => values[row * len..(row + 1) * len].fill(0.0),
            Pixels::Kept(rows) => rows[row] = Kept::default(),
        }
    }
}

/// Buffers of batches that were dropped.
#[derive(Debug, Default)]
pub(crate) struct Recycler {
    u8s: Mutex<Vec<Buffer<u8>>>,
    f32s: Mutex<Vec<Buffer<f32>>>,
    rows: Mutex<Vec<Vec<RowValues>>>,
}

/// How many buffers wait to be used again, of each kind: more is memory that does not come back.
const MOST_WAITING: usize = 4;

impl Recycler {
    /// Memory for `rows` pictures. What is in it is unspecified.
    pub(crate) fn pixels(&self, spec: &ImageSpec, rows: usize, align: usize) -> Result<Pixels> {
        let Some(shape) = spec.shape() else {
            return Ok(Pixels::Kept((0..rows).map(|_| Kept::default()).collect()));
        };
        let len = shape.iter().try_fold(rows, |product, &side| product.checked_mul(side));
        let too_large =
            || Error::invalid(format!("a batch of {rows} pictures of {shape:?} does not fit into memory"));
        let len = len.ok_or_else(too_large)?;
        let pixels = match spec.pixel_type() {
            PixelType::U8 => take(&self.u8s, len, align).map(Pixels::U8),
            PixelType::F32 => take(&self.f32s, len, align).map(Pixels::F32),
        };
        pixels.ok_or_else(too_large)
    }

    /// Memory for the values of `count` rows. What is in it is unspecified.
    pub(crate) fn rows(&self, count: usize) -> Vec<RowValues> {
        let used = self.rows.try_lock().ok().and_then(|mut waiting| waiting.pop());
        let mut rows = used.unwrap_or_default();
        rows.resize_with(count, RowValues::default);
        rows
    }

    pub(crate) fn give_back_rows(&self, rows: Vec<RowValues>) {
        if let Ok(mut waiting) = self.rows.try_lock()
            && waiting.len() < MOST_WAITING
        {
            waiting.push(rows);
        }
    }

    /// Takes back what a batch no longer needs.
    pub(crate) fn give_back(&self, values: Values) {
        match values {
            Values::UInt8(buffer) => put(&self.u8s, buffer),
            Values::Float32(buffer) => put(&self.f32s, buffer),
            _ => {}
        }
    }
}

/// Where memory goes that a batch was made in, so that a later one of the same run is made in it: for holders of columns
/// [taken](crate::Batch::take_column) out of batches. A batch that is dropped does so by itself.
#[derive(Clone, Debug)]
pub struct Reuse(Arc<Recycler>);

impl Reuse {
    pub(crate) fn new(recycler: Arc<Recycler>) -> Reuse {
        Reuse(recycler)
    }

    /// Gives up the values of the column. Where more are waiting than are of use, the memory is freed.
    pub fn give_back(&self, values: Values) {
        self.0.give_back(values);
    }
}

/// A buffer of this length; `None` where there is no memory for it.
fn take<T: Copy + Default>(waiting: &Mutex<Vec<Buffer<T>>>, len: usize, align: usize) -> Option<Buffer<T>> {
    // Never waited for: a fork may have left the lock held.
    let used = waiting.try_lock().ok().and_then(|mut waiting| {
        let fits = waiting.iter().position(|buffer| buffer.fits(len, align))?;
        Some(waiting.swap_remove(fits))
    });
    match used {
        Some(mut buffer) => {
            buffer.resize(len);
            Some(buffer)
        }
        None => Buffer::zeroed(len, align),
    }
}

fn put<T>(waiting: &Mutex<Vec<Buffer<T>>>, buffer: Buffer<T>) {
    if let Ok(mut waiting) = waiting.try_lock()
        && waiting.len() < MOST_WAITING
    {
        waiting.push(buffer);
    }
}
