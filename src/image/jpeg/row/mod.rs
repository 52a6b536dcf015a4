//! A row of MCUs of a file of one scan: entropy decoding and transform, block by block.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

use std::ops::Range;

use super::frame::{COEFFICIENTS, MAX_MCU_BLOCKS, NATURAL};
use super::huffman::{AcTable, DcTable};
use super::idct::{self, Multipliers, Order, Transform};
use super::leaps::Leaps;
use super::mcus::{Work, read_mcus};
use super::plane::Plane;
use super::scan::Scan;
use super::{Dct, Error, sequential};

/// What to do with a block of every MCU of a row.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    pub tables: (&'a DcTable, &'a AcTable),
    pub leaps: &'a Leaps,
    /// Index of the component in the scan.
    pub part: usize,
    pub component: usize,
    pub multipliers: &'a Multipliers,
    /// The first MCU whose block is needed, and how many are.
    pub first: usize,
    pub count: usize,
    /// Index of that block's first sample in its plane, and the samples from one to the next.
    pub start: usize,
    pub step: usize,
}

/// A row of MCUs to be decoded.
pub(super) struct Row<'r, 'a, 's> {
    pub scan: &'r mut Scan<'a, 's>,
    pub lanes: &'r [Lane<'r>],
    /// The MCUs of the row that are meant.
    pub cols: Range<usize>,
    pub planes: &'r mut [Plane; 4],
    /// The DC coefficients to go on from, by the component's index in the scan.
    pub predictions: &'r mut [i32; 4],
    /// One block for each lane.
    pub mcu: &'r mut [[i16; COEFFICIENTS]],
}

impl Row<'_, '_, '_> {
    /// The first MCU of the row of which a block is needed, and the one behind the last; the same where none is.
    pub(super) fn needed(&self) -> (usize, usize) {
        let needed = || self.lanes.iter().filter(|lane| lane.count > 0);
        let end = needed().map(|lane| lane.first + lane.count).max().unwrap_or(0);
        (needed().map(|lane| lane.first).min().unwrap_or(0), end)
    }
}

/// How to decode on this machine.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    /// Where the transform wants the coefficients.
    pub order: &'static Order,
    pub transform: Transform,
    /// Decodes a row of MCUs.
    pub decode: fn(&mut Row<'_, '_, '_>) -> Result<(), Error>,
    /// Passes over MCUs of a row, by the leaps of its lanes.
    pub skip: fn(&mut Row<'_, '_, '_>) -> Result<(), Error>,
    /// Decodes a scan of several.
    pub read: fn(&mut Work<'_, '_, '_>) -> Result<(), Error>,
}

impl Kernels {
    pub(super) fn new(dct: Dct) -> Kernels {
        #[cfg(target_arch = "x86_64")]
        if let Some(kernels) = avx2::kernels(dct) {
            return kernels;
        }
        match dct {
            Dct::Accurate => Kernels {
                order: &NATURAL,
                transform: idct::accurate,
                decode: |row| decode(row, Dct::Accurate, &NATURAL, idct::accurate),
                skip,
                read: |work| read_mcus(work, &NATURAL),
            },
            Dct::Fast => Kernels {
                order: &NATURAL,
                transform: idct::fast,
                decode: |row| decode(row, Dct::Fast, &NATURAL, idct::fast),
                skip,
                read: |work| read_mcus(work, &NATURAL),
            },
        }
    }
}

/// Decodes a row of MCUs.
#[inline(always)]
fn decode(
    row: &mut Row<'_, '_, '_>,
    dct: Dct,
    order: &Order,
    transform: impl Fn(&[i16; COEFFICIENTS], &Multipliers, &mut [u8], usize),
) -> Result<(), Error> {
    let Row { scan, lanes, cols, planes, predictions, mcu } = row;
    for col in cols.clone() {
        if scan.begin_mcu()? {
            **predictions = [0; 4];
        }
        let mut flat = [true; MAX_MCU_BLOCKS];
        let decoded = scan.mcu(|bits| {
            for ((lane, block), flat) in lanes.iter().zip(mcu.iter_mut()).zip(&mut flat) {
                let prediction = &mut predictions[lane.part & 3];
                *block = [0; COEFFICIENTS];
                *flat = sequential::block(bits, lane.tables, prediction, order, block);
            }
        })?;
        if !decoded {
            mcu.as_flattened_mut().fill(0);
        }
        for ((lane, block), flat) in lanes.iter().zip(mcu.iter()).zip(flat) {
            let at = col.wrapping_sub(lane.first);
            if at >= lane.count {
                continue;
            }
            let (out, stride) = planes[lane.component & 3].samples_from(lane.start + at * lane.step);
            if flat {
                idct::fill(idct::dc_sample(block[0], lane.multipliers, dct), out, stride);
            } else {
                transform(block, lane.multipliers, out, stride);
            }
        }
    }
    Ok(())
}

/// Passes over MCUs of a row.
#[inline(always)]
fn skip(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
    let Row { scan, lanes, cols, predictions, .. } = row;
    for _ in cols.clone() {
        if scan.begin_mcu()? {
            **predictions = [0; 4];
        }
        scan.mcu(|bits| {
            for lane in *lanes {
                sequential::skip(bits, lane.tables, lane.leaps, &mut predictions[lane.part & 3]);
            }
        })?;
    }
    Ok(())
}
