//! Pillow's horizontal pass for RGB in vectors; its scalar twin is `pillow::columns_of`, with which tests hold it
//! bit-equal.
//!
//! A weight of 24 bits is split into a high and a low part of 12, so that the multiply-and-add of 16-bit pairs takes two
//! taps at once; whole-number sums do not depend on the order.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::image::resize::pillow::{HALF, PRECISION, PillowTaps};
use crate::image::rows_avx2::available;

/// Bits of a weight's low part.
const LOW_BITS: u32 = 12;

/// The weights of two neighbouring taps, as the kernel wants them: two 16-bit numbers in each.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    low: u32,
    high: u32,
}

impl Pair {
    /// Two weights; the second is 0 where their number is odd.
    pub fn new(first: i32, second: i32) -> Pair {
        let low = |w: i32| (w & ((1 << LOW_BITS) - 1)) as u32;
        let high = |w: i32| (w >> LOW_BITS) as u16;
        Pair {
            low: low(first) | low(second) << 16,
            high: u32::from(high(first)) | u32::from(high(second)) << 16,
        }
    }
}

/// A row of outputs from each of two rows of RGB pixels of the same length, that 8 bytes or more follow.
///
/// # Panics
/// Where AVX2 is missing, the rows or the outputs are too short.
pub(crate) fn columns_rgb(padded: [&[u8]; 2], taps: &PillowTaps, out: [&mut [u8]; 2]) {
    assert!(available());
    // SAFETY: AVX2 is there.
    unsafe { columns_rgb_avx2(padded, taps, out) }
}

#[target_feature(enable = "avx2")]
fn columns_rgb_avx2([upper, lower]: [&[u8]; 2], taps: &PillowTaps, [out_upper, out_lower]: [&mut [u8]; 2]) {
    assert_eq!(upper.len(), lower.len());
    // Two pixels of three bytes to pairs of 16-bit numbers: both reds, both greens, both blues.
    let spread = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    let spread = _mm256_broadcastsi128_si256(spread);
    let outs = out_upper.as_chunks_mut::<3>().0.iter_mut().zip(out_lower.as_chunks_mut::<3>().0);
    for (x, (out_upper, out_lower)) in outs.enumerate() {
        let (first, pairs) = taps.pairs_of(x);
        let start = 3 * first;
        assert!(start + 6 * pairs.len() + 2 <= upper.len());
        let (mut low, mut high) = (_mm256_set1_epi32(HALF), _mm256_setzero_si256());
        for (p, pair) in pairs.iter().enumerate() {
            // SAFETY: 8 bytes from start + 6 p on, which end at most at start + 6 len + 2, of rows of the same length.
            let (above, below) = unsafe {
                (
                    _mm_loadl_epi64(upper.as_ptr().add(start + 6 * p).cast()),
                    _mm_loadl_epi64(lower.as_ptr().add(start + 6 * p).cast()),
                )
            };
            let pixels = _mm256_shuffle_epi8(_mm256_set_m128i(below, above), spread);
            let weights = |w: u32| _mm256_set1_epi32(w.cast_signed());
            low = _mm256_add_epi32(low, _mm256_madd_epi16(pixels, weights(pair.low)));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(pixels, weights(pair.high)));
        }
        let sum = _mm256_add_epi32(low, _mm256_slli_epi32::<{ LOW_BITS as i32 }>(high));
        let whole = _mm256_srai_epi32::<{ PRECISION as i32 }>(sum);
        let words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256::<1>(whole));
        let bytes = _mm_packus_epi16(words, words);
        let [r, g, b, _] = _mm_cvtsi128_si32(bytes).cast_unsigned().to_le_bytes();
        *out_upper = [r, g, b];
        let [r, g, b, _] = _mm_extract_epi32::<1>(bytes).cast_unsigned().to_le_bytes();
        *out_lower = [r, g, b];
    }
}
