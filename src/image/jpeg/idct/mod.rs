//! Dequantisation and inverse DCT, in the arithmetic of libjpeg-turbo's SIMD code: where damaged data overflows,
//! 16-bit sums wrap and results saturate just as they do there.

mod scalar;

use super::Dct;
use super::frame::COEFFICIENTS;

/// Multipliers of a component, in natural order.
#[derive(Clone)]
#[repr(align(32))]
pub(super) struct Multipliers(pub [i16; COEFFICIENTS]);

/// Turns a block of coefficients in natural order into 8 x 8 samples at the start of a slice with a row stride.
pub(super) type Transform = fn(&[i16; COEFFICIENTS], &Multipliers, &mut [u8], usize);

impl Multipliers {
    /// The multipliers of a quantisation table. The fast transform takes the scale factors of its first stage
    /// (Arai, Agui and Nakajima, 1988) into them, with two fractional bits.
    pub(super) fn new(quant: &[u16; COEFFICIENTS], dct: Dct) -> Multipliers {
        let mut out = [0; COEFFICIENTS];
        for (i, (out, &q)) in out.iter_mut().zip(quant).enumerate() {
            *out = match dct {
                Dct::Accurate => q as i16,
                Dct::Fast => ((i64::from(q) * i64::from(SCALES[i]) + (1 << 11)) >> 12) as i16,
            };
        }
        Multipliers(out)
    }
}

/// `scale(row) * scale(column)` in units of 2^-14, with `scale(0) = 1` and `scale(k) = cos(k * pi / 16) * sqrt(2)`.
#[rustfmt::skip]
const SCALES: [u16; COEFFICIENTS] = [
    16384, 22725, 21407, 19266, 16384, 12873,  8867,  4520,
    22725, 31521, 29692, 26722, 22725, 17855, 12299,  6270,
    21407, 29692, 27969, 25172, 21407, 16819, 11585,  5906,
    19266, 26722, 25172, 22654, 19266, 15137, 10426,  5315,
    16384, 22725, 21407, 19266, 16384, 12873,  8867,  4520,
    12873, 17855, 16819, 15137, 12873, 10114,  6967,  3552,
     8867, 12299, 11585, 10426,  8867,  6967,  4799,  2446,
     4520,  6270,  5906,  5315,  4520,  3552,  2446,  1247,
];

/// The sample that a block of nothing but a DC coefficient consists of.
#[inline(always)]
pub(super) fn dc_sample(dc: i16, multipliers: &Multipliers, dct: Dct) -> u8 {
    let dc = dc.wrapping_mul(multipliers.0[0]);
    let value = match dct {
        Dct::Accurate => (i32::from(dc.wrapping_shl(2)) + 16) >> 5,
        Dct::Fast => i32::from(dc) >> 5,
    };
    (value.clamp(-128, 127) + 128) as u8
}

/// Fills a block with one sample.
#[inline(always)]
pub(super) fn fill(sample: u8, out: &mut [u8], stride: usize) {
    for row in out.chunks_mut(stride).take(8) {
        row[..8].fill(sample);
    }
}

/// The transform for this machine.
pub(super) fn transform(dct: Dct) -> Transform {
    match dct {
        Dct::Accurate => scalar::accurate,
        Dct::Fast => scalar::fast,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_the_products_of_cosines() {
        let scale = |k: usize| match k {
            0 => 1.0,
            k => (k as f64 * std::f64::consts::PI / 16.0).cos() * 2f64.sqrt(),
        };
        for (i, &s) in SCALES.iter().enumerate() {
            assert_eq!(f64::from(s), (scale(i / 8) * scale(i % 8) * 16384.0).round());
        }
    }

    #[test]
    fn dc_only_blocks_are_flat() {
        for dct in [Dct::Accurate, Dct::Fast] {
            for dc in (i16::MIN..=i16::MAX).step_by(37) {
                for q in [1, 2, 16, 255, 1000, 65535] {
                    let multipliers = Multipliers::new(&[q; 64], dct);
                    let mut block = [0; 64];
                    block[0] = dc;
                    let mut out = [0; 64];
                    transform(dct)(&block, &multipliers, &mut out, 8);
                    assert_eq!(out, [dc_sample(dc, &multipliers, dct); 64], "{dct:?} dc {dc} q {q}");
                }
            }
        }
    }
}
