//! The coefficients of a whole picture, for files with several scans.

use super::error::Error;
use super::frame::{COEFFICIENTS, Component};

/// The coefficients of a component, with the blocks that fill up MCUs.
#[derive(Default)]
pub(super) struct Coefficients {
    data: Vec<i16>,
    cols: usize,
}

impl Coefficients {
    /// Room for a component, all zero.
    pub(super) fn lay_out(&mut self, component: &Component) -> Result<(), Error> {
        self.cols = component.padded_cols;
        let length = component.padded_cols * component.padded_rows * COEFFICIENTS;
        if self.data.capacity() < length {
            // Asked for first: what a header claims must not end the process. Zeros of the system's cost nothing until used.
            self.data = Vec::new();
            Vec::<i16>::new().try_reserve_exact(length).map_err(|_| Error::OutOfMemory)?;
            self.data = vec![0; length];
        } else {
            self.data.clear();
            self.data.resize(length, 0);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn block(&self, row: usize, col: usize) -> &[i16; COEFFICIENTS] {
        let at = (row * self.cols + col) * COEFFICIENTS;
        (&self.data[at..at + COEFFICIENTS]).try_into().expect("a block")
    }

    #[inline(always)]
    pub(super) fn block_mut(&mut self, row: usize, col: usize) -> &mut [i16; COEFFICIENTS] {
        let at = (row * self.cols + col) * COEFFICIENTS;
        (&mut self.data[at..at + COEFFICIENTS]).try_into().expect("a block")
    }
}
