//! Dequantisation and inverse DCT, in the arithmetic of libjpeg-turbo's SIMD code: where damaged data overflows,
//! 16-bit sums wrap and results saturate just as they do there.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_fast;
mod scalar;

use super::Dct;
use super::frame::{COEFFICIENTS, NATURAL};

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::{PAIRED, accurate as accurate_avx2};
#[cfg(target_arch = "x86_64")]
pub(super) use avx2_fast::fast as fast_avx2;
pub(super) use scalar::{accurate, fast};

/// Multipliers of a component, in the order of its coefficients.
#[derive(Clone)]
#[repr(align(32))]
pub(super) struct Multipliers(pub [i16; COEFFICIENTS]);

/// Where a coefficient lies in memory, by its zigzag position. Positions past the end lead to the last coefficient.
pub(super) type Order = [u8; 256];

/// Turns a block of coefficients into 8 x 8 samples at the start of a slice with a row stride.
pub(super) type Transform = fn(&[i16; COEFFICIENTS], &Multipliers, &mut [u8], usize);

impl Multipliers {
    /// The multipliers of a quantisation table in natural order. The fast transform takes the scale factors of its
    /// first stage (Arai, Agui and Nakajima, 1988) into them, with two fractional bits.
    pub(super) fn new(quant: &[u16; COEFFICIENTS], dct: Dct, order: &Order) -> Multipliers {
        let mut out = [0; COEFFICIENTS];
        for k in 0..COEFFICIENTS {
            let natural = usize::from(NATURAL[k]);
            let q = quant[natural];
            out[usize::from(order[k])] = match dct {
                Dct::Accurate => q as i16,
                Dct::Fast => ((i64::from(q) * i64::from(SCALES[natural]) + (1 << 11)) >> 12) as i16,
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

    /// The transforms of this machine with the order they take.
    fn kernels() -> Vec<(Dct, &'static Order, Transform)> {
        let mut kernels: Vec<(Dct, &Order, Transform)> =
            vec![(Dct::Accurate, &NATURAL, accurate), (Dct::Fast, &NATURAL, fast)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            kernels.extend(super::super::row::avx2::TRANSFORMS);
        }
        kernels
    }

    fn run(kernel: (&Order, Transform), dct: Dct, zigzag: &[i16; 64], quant: &[u16; 64]) -> [u8; 128] {
        let (order, transform) = kernel;
        let mut block = [0; 64];
        (0..64).for_each(|k| block[usize::from(order[k])] = zigzag[k]);
        let mut out = [7; 128];
        transform(&block, &Multipliers::new(quant, dct, order), &mut out[3..], 13);
        out
    }

    #[test]
    fn dc_only_blocks_are_flat() {
        for (dct, order, transform) in kernels() {
            for dc in (i16::MIN..=i16::MAX).step_by(if cfg!(miri) { 9973 } else { 37 }) {
                for q in [1, 2, 16, 255, 1000, 65535] {
                    let mut block = [0; 64];
                    block[0] = dc;
                    let sample = dc_sample(dc, &Multipliers::new(&[q; 64], dct, order), dct);
                    let out = run((order, transform), dct, &block, &[q; 64]);
                    for row in out[3..].chunks(13).take(8) {
                        assert_eq!(row[..8], [sample; 8], "{dct:?} dc {dc} q {q}");
                    }
                }
            }
        }
    }

    /// Plausible blocks, sparse blocks, and blocks that overflow everywhere.
    #[test]
    fn all_kernels_are_equal() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let kernels = kernels();
        for round in 0..if cfg!(miri) { 30 } else { 20_000 } {
            let count = 1 + random() % 64;
            let bits = 1 + random() % 16;
            let mut block = [0; 64];
            for _ in 0..count {
                let at = if random() % 3 == 0 { random() % 64 } else { random() % count };
                block[at as usize] = (random() as i16) >> (16 - bits);
            }
            let quant: [u16; 64] = match round % 3 {
                0 => [1; 64],
                1 => std::array::from_fn(|_| 1 + (random() % 255) as u16),
                _ => std::array::from_fn(|_| random() as u16),
            };
            for dct in [Dct::Accurate, Dct::Fast] {
                let outs: Vec<_> = kernels
                    .iter()
                    .filter(|k| k.0 == dct)
                    .map(|k| run((k.1, k.2), dct, &block, &quant))
                    .collect();
                assert!(outs.iter().all(|out| *out == outs[0]), "{dct:?} {block:?} {quant:?}");
            }
        }
    }
}
