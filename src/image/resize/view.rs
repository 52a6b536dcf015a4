//! A rectangle of pixels to read from.

use crate::image::rows;

/// A value of a source picture.
pub(crate) trait Sample: Copy {
    /// The value as f32, times `scale` where the type has one.
    fn value(self, scale: f32) -> f32;

    /// The row, if it is one of bytes.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    fn bytes(row: &[Self]) -> Option<&[u8]>;

    /// Adds a row times a weight to sums.
    fn add(sums: &mut [f32], row: &[Self], scale: f32, weight: f32);
}

impl Sample for u8 {
    #[inline(always)]
    fn value(self, scale: f32) -> f32 {
        f32::from(self) * scale
    }

    fn bytes(row: &[u8]) -> Option<&[u8]> {
        Some(row)
    }

    fn add(sums: &mut [f32], row: &[u8], scale: f32, weight: f32) {
        rows::add_bytes(sums, row, scale, weight);
    }
}

impl Sample for f32 {
    #[inline(always)]
    fn value(self, _: f32) -> f32 {
        self
    }

    fn bytes(_: &[f32]) -> Option<&[u8]> {
        None
    }

    fn add(sums: &mut [f32], row: &[f32], _: f32, weight: f32) {
        rows::add_floats(sums, row, weight);
    }
}

/// Rows of interleaved pixels, perhaps a window of a larger picture.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, S> {
    /// From the window's first pixel on.
    pub data: &'a [S],
    /// Elements from one row to the next.
    pub stride: usize,
    pub height: u32,
    pub width: u32,
    pub channels: usize,
    /// What 8-bit values are multiplied by when they become f32.
    pub scale: f32,
}

impl<'a, S: Sample> View<'a, S> {
    pub fn row(&self, y: u32) -> &'a [S] {
        let start = y as usize * self.stride;
        &self.data[start..start + self.width as usize * self.channels]
    }
}
