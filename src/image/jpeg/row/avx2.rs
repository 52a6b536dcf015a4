//! The same compiled for AVX2 and BMI, with the AVX2 transform.
#![allow(unsafe_code)]

use super::{Kernels, Row, Work, decode, read_mcus, skip};
use crate::image::jpeg::frame::{COEFFICIENTS, NATURAL};
use crate::image::jpeg::idct::{self, Multipliers, PAIRED};
use crate::image::jpeg::{Dct, Error, vectors};

/// The transforms with the order they take, for tests.
#[cfg(test)]
pub(in super::super) const TRANSFORMS: [(Dct, &idct::Order, idct::Transform); 2] =
    [(Dct::Accurate, &PAIRED, accurate), (Dct::Fast, &NATURAL, fast)];

/// The kernels, where this machine has what they need.
pub(super) fn kernels(dct: Dct) -> Option<Kernels> {
    let present = vectors::avx2()
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("movbe");
    present.then_some(match dct {
        Dct::Accurate => Kernels {
            order: &PAIRED,
            transform: accurate,
            decode: decode_accurate,
            skip: skip_row,
            read: read_paired,
        },
        Dct::Fast => Kernels {
            order: &NATURAL,
            transform: fast,
            decode: decode_fast,
            skip: skip_row,
            read: read_natural,
        },
    })
}

fn accurate(block: &[i16; COEFFICIENTS], multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    // SAFETY: this kernel is only chosen where AVX2 is detected.
    unsafe { idct::accurate_avx2(block, multipliers, out, stride) }
}

fn fast(block: &[i16; COEFFICIENTS], multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    // SAFETY: this kernel is only chosen where AVX2 is detected.
    unsafe { idct::fast_avx2(block, multipliers, out, stride) }
}

fn decode_accurate(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
    #[target_feature(enable = "avx2,bmi1,bmi2,movbe")]
    fn inner(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
        decode(row, Dct::Accurate, &PAIRED, |block, multipliers, out, stride| {
            idct::accurate_avx2(block, multipliers, out, stride);
        })
    }
    // SAFETY: this kernel is only chosen where these features are detected.
    unsafe { inner(row) }
}

fn decode_fast(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
    #[target_feature(enable = "avx2,bmi1,bmi2,movbe")]
    fn inner(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
        decode(row, Dct::Fast, &NATURAL, |block, multipliers, out, stride| {
            idct::fast_avx2(block, multipliers, out, stride);
        })
    }
    // SAFETY: this kernel is only chosen where these features are detected.
    unsafe { inner(row) }
}

fn skip_row(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
    #[target_feature(enable = "avx2,bmi1,bmi2,movbe")]
    fn inner(row: &mut Row<'_, '_, '_>) -> Result<(), Error> {
        skip(row)
    }
    // SAFETY: this kernel is only chosen where these features are detected.
    unsafe { inner(row) }
}

fn read_paired(work: &mut Work<'_, '_, '_>) -> Result<(), Error> {
    // SAFETY: this kernel is only chosen where these features are detected.
    unsafe { read(work, &PAIRED) }
}

fn read_natural(work: &mut Work<'_, '_, '_>) -> Result<(), Error> {
    // SAFETY: this kernel is only chosen where these features are detected.
    unsafe { read(work, &NATURAL) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,movbe")]
fn read(work: &mut Work<'_, '_, '_>, order: &'static idct::Order) -> Result<(), Error> {
    read_mcus(work, order)
}
