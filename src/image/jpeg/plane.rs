//! A component's samples: as many rows as the output needs at a time.

use super::frame::{BLOCK, Component};

/// Bytes before the first and after the last stored sample of a row: room for the neighbours at the picture's edges
/// and for kernels that read whole vectors.
pub(super) const MARGIN: usize = 32;

/// Two rows of MCUs of a component, used in turns, over the block columns that are needed.
#[derive(Default)]
pub(super) struct Plane {
    data: Vec<u8>,
    stride: usize,
    /// Rows stored.
    rows: usize,
    /// Block columns stored.
    first_block: usize,
    last_block: usize,
    /// Size of the component in samples.
    width: usize,
    height: usize,
}

impl Plane {
    /// Sets the plane up for a component and the sample columns from `first` to before `end`.
    pub(super) fn lay_out(&mut self, component: &Component, first: usize, end: usize) {
        self.first_block = first / BLOCK;
        self.last_block = (end.max(1) - 1) / BLOCK;
        self.width = component.width;
        self.height = component.height;
        self.rows = 2 * component.v * BLOCK;
        self.stride = (self.last_block + 1 - self.first_block) * BLOCK + 2 * MARGIN;
        let length = self.rows * self.stride;
        if self.data.len() < length {
            self.data.resize(length, 0);
        }
    }

    /// The block columns that are needed.
    pub(super) fn columns(&self) -> std::ops::RangeInclusive<usize> {
        self.first_block..=self.last_block
    }

    /// Index of a block's first sample, for a column that is needed.
    pub(super) fn index(&self, block_row: usize, column: usize) -> usize {
        block_row * BLOCK % self.rows * self.stride + MARGIN + (column - self.first_block) * BLOCK
    }

    /// The samples from an index on, and their stride.
    #[inline(always)]
    pub(super) fn samples_from(&mut self, index: usize) -> (&mut [u8], usize) {
        (&mut self.data[index..], self.stride)
    }

    /// Repeats the first and the last sample of the rows of a block row beyond the picture's edges.
    pub(super) fn extend_edges(&mut self, block_row: usize) {
        let left = self.first_block == 0;
        let right = self.width - self.first_block * BLOCK;
        let right = (right <= (self.last_block + 1 - self.first_block) * BLOCK).then_some(right);
        let first = block_row * BLOCK % self.rows;
        for row in self.data[first * self.stride..].chunks_exact_mut(self.stride).take(BLOCK) {
            if left {
                row[MARGIN - 1] = row[MARGIN];
            }
            if let Some(right) = right {
                row[MARGIN + right] = row[MARGIN + right - 1];
            }
        }
    }

    /// Samples of a row, which is the nearest one where `y` is outside the picture: from one before `first` to one
    /// after `end`.
    #[inline(always)]
    pub(super) fn samples(&self, y: isize, first: usize, end: usize) -> &[u8] {
        let y = y.clamp(0, self.height as isize - 1) as usize % self.rows;
        let start = y * self.stride + MARGIN + first - self.first_block * BLOCK - 1;
        &self.data[start..start + end - first + 2]
    }
}
