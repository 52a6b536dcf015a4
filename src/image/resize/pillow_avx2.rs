//! Pillow's two passes in vectors, the horizontal one for RGB; their scalar twins are in `pillow`, with which tests hold
//! them bit-equal.
//!
//! A weight of 24 bits is split into a high and a low part of 12, so that the multiply-and-add of 16-bit pairs takes two
//! taps at once; whole-number sums do not depend on the order.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::image::resize::pillow_pairs::{LOW_BITS, Pair, Pairs};
use crate::image::resize::pillow_taps::{HALF, PRECISION};
use crate::image::rows_avx2::available;

/// A weighted sum of rows, rounded, but for the last elements that do not fill a vector: returns how many were made.
/// `source` gives the row of a weight.
///
/// # Panics
/// Where AVX2 is missing or a row is shorter than the output.
pub(crate) fn rows<'a>(weights: &[i32], source: impl Fn(usize) -> &'a [u8], out: &mut [u8]) -> usize {
    assert!(available());
    // SAFETY: AVX2 is there.
    unsafe { rows_avx2(weights, source, out) }
}

#[target_feature(enable = "avx2")]
fn rows_avx2<'a>(weights: &[i32], source: impl Fn(usize) -> &'a [u8], out: &mut [u8]) -> usize {
    let zero = _mm256_setzero_si256();
    let chunks = out.as_chunks_mut::<32>().0;
    for (c, out) in chunks.iter_mut().enumerate() {
        let load = |k: usize| {
            let bytes: &[u8; 32] = source(k)[32 * c..].first_chunk().expect("a row as long as the output");
            // SAFETY: 32 bytes; the load needs no alignment.
            unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
        };
        let (mut low, mut high) = ([_mm256_set1_epi32(HALF); 4], [zero; 4]);
        for (p, pair) in weights.chunks(2).enumerate() {
            let (upper, lower) = (load(2 * p), load(2 * p + pair.len() - 1));
            let pair = Pair::new(pair[0], pair.get(1).copied().unwrap_or(0));
            let [low_weights, high_weights] =
                [pair.low, pair.high].map(|w| _mm256_set1_epi32(w.cast_signed()));
            let (a, b) = (_mm256_unpacklo_epi8(upper, lower), _mm256_unpackhi_epi8(upper, lower));
            let pixels = [
                _mm256_unpacklo_epi8(a, zero),
                _mm256_unpackhi_epi8(a, zero),
                _mm256_unpacklo_epi8(b, zero),
                _mm256_unpackhi_epi8(b, zero),
            ];
            for i in 0..4 {
                low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(pixels[i], low_weights));
                high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(pixels[i], high_weights));
            }
        }
        let whole = |i: usize| whole(low[i], high[i]);
        let (a, b) = (_mm256_packs_epi32(whole(0), whole(1)), _mm256_packs_epi32(whole(2), whole(3)));
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_packus_epi16(a, b)) };
    }
    32 * chunks.len()
}

/// Sums less their fraction bits.
#[inline]
#[target_feature(enable = "avx2")]
fn whole(low: __m256i, high: __m256i) -> __m256i {
    let sum = _mm256_add_epi32(low, _mm256_slli_epi32::<{ LOW_BITS as i32 }>(high));
    _mm256_srai_epi32::<{ PRECISION as i32 }>(sum)
}

/// A row of outputs from each of two rows of RGB pixels of the same length, that 8 bytes or more follow.
///
/// # Panics
/// Where AVX2 is missing, the rows or the outputs are too short.
pub(crate) fn columns_rgb(padded: [&[u8]; 2], taps: &Pairs, out: [&mut [u8]; 2]) {
    assert!(available());
    // SAFETY: AVX2 is there.
    unsafe { columns_rgb_avx2(padded, taps, out) }
}

#[target_feature(enable = "avx2")]
fn columns_rgb_avx2([upper, lower]: [&[u8]; 2], taps: &Pairs, [out_upper, out_lower]: [&mut [u8]; 2]) {
    assert_eq!(upper.len(), lower.len());
    // Two pixels of three bytes to pairs of 16-bit numbers: both reds, both greens, both blues.
    let spread = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    let spread = _mm256_broadcastsi128_si256(spread);
    let outs = out_upper.as_chunks_mut::<3>().0.iter_mut().zip(out_lower.as_chunks_mut::<3>().0);
    let weights = taps.first.iter().zip(taps.pairs.chunks_exact(taps.count.max(1)));
    for ((first, pairs), (out_upper, out_lower)) in weights.zip(outs) {
        let start = 3 * *first as usize;
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
        let whole = whole(low, high);
        let words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256::<1>(whole));
        let bytes = _mm_packus_epi16(words, words);
        let [r, g, b, _] = _mm_cvtsi128_si32(bytes).cast_unsigned().to_le_bytes();
        *out_upper = [r, g, b];
        let [r, g, b, _] = _mm_extract_epi32::<1>(bytes).cast_unsigned().to_le_bytes();
        *out_lower = [r, g, b];
    }
}
