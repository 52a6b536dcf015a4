//! The memory of a column's values.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Values one behind the other: a slice, which can be had as a `Vec`.
#[derive(Clone)]
pub struct Buffer<T> {
    values: Vec<T>,
    /// Where the values begin: not 0 only where a begin at a multiple of some bytes was asked for.
    start: usize,
}

impl<T> Buffer<T> {
    /// The values as a `Vec`: without a copy, unless their begin had to be aligned
    /// ([`Batches::aligned`](crate::Batches::aligned)).
    pub fn into_vec(mut self) -> Vec<T> {
        if self.start > 0 {
            self.values.drain(..self.start);
        }
        self.values
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(self.start + len);
    }
}

impl<T: Copy + Default> Buffer<T> {
    /// Zeros, beginning at a multiple of `align` bytes; `None` where there is no memory for them.
    pub(crate) fn zeroed(len: usize, align: usize) -> Option<Buffer<T>> {
        // Asked for first, as `vec!` would abort the process.
        let spare = align / size_of::<T>();
        let whole = len.checked_add(spare)?;
        Vec::<T>::new().try_reserve_exact(whole).ok()?;
        let mut values = vec![T::default(); whole];
        let start = values.as_ptr().align_offset(align).min(spare);
        values.truncate(start + len);
        Some(Buffer { values, start })
    }

    /// Empty, with room for values that will begin at a multiple of `align` bytes while there are no more than `len` of them.
    pub(crate) fn with_capacity(len: usize, align: usize) -> Buffer<T> {
        let spare = align / size_of::<T>();
        let mut values = Vec::<T>::with_capacity(len + spare);
        let start = values.as_ptr().align_offset(align).min(spare);
        values.resize(start, T::default());
        Buffer { values, start }
    }

    /// True where `resize` up to `len` needs no other memory and keeps the begin aligned.
    pub(crate) fn fits(&self, len: usize, align: usize) -> bool {
        self.start + len <= self.values.capacity() && self.as_ptr().align_offset(align) == 0
    }

    /// Makes it this long; what is in it is unspecified.
    pub(crate) fn resize(&mut self, len: usize) {
        self.values.resize(self.start + len, T::default());
    }
}

impl<T> Extend<T> for Buffer<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.values.extend(values);
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Buffer<T> {
        Buffer { values, start: 0 }
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Buffer<T>) -> bool {
        **self == **other
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.start..]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..]
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().take(16)).finish()?;
        if self.len() > 16 { write!(f, " and {} more", self.len() - 16) } else { Ok(()) }
    }
}
