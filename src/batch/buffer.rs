//! The memory of a column's values.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Values one behind the other: a slice, which can be had as a `Vec`.
#[derive(Clone, PartialEq)]
pub struct Buffer<T> {
    values: Vec<T>,
}

impl<T> Buffer<T> {
    /// The values as a `Vec`, without a copy.
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Buffer<T> {
        Buffer { values }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().take(16)).finish()?;
        if self.len() > 16 { write!(f, " and {} more", self.len() - 16) } else { Ok(()) }
    }
}
