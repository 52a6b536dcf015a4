//! The conversions with AVX2, 32 pixels at a time; rows shorter than that are left to the plain ones.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::scalar;

/// Pixels of a step.
const STEP: usize = 32;

/// YCbCr to RGB.
pub(super) fn ycc_to_rgb(y: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    // SAFETY: these kernels are only chosen where AVX2 is detected.
    unsafe { ycc_to_rgb_avx2(y, cb, cr, out) }
}

/// Planes to interleaved RGB.
pub(super) fn interleave(r: &[u8], g: &[u8], b: &[u8], out: &mut [u8]) {
    // SAFETY: these kernels are only chosen where AVX2 is detected.
    unsafe { interleave_avx2(r, g, b, out) }
}

#[target_feature(enable = "avx2")]
fn ycc_to_rgb_avx2(y: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    let steps = y.chunks_exact(STEP).zip(cb.chunks_exact(STEP)).zip(cr.chunks_exact(STEP));
    for (((y, cb), cr), out) in steps.zip(out.chunks_exact_mut(3 * STEP)) {
        store(ycc(load(y), load(cb), load(cr)), out);
    }
    // The last step overlaps the one before it.
    match y.len().checked_sub(STEP) {
        Some(at) => store(ycc(load(&y[at..]), load(&cb[at..]), load(&cr[at..])), &mut out[3 * at..]),
        None => scalar::ycc_to_rgb(y, cb, cr, out),
    }
}

#[target_feature(enable = "avx2")]
fn interleave_avx2(r: &[u8], g: &[u8], b: &[u8], out: &mut [u8]) {
    let steps = r.chunks_exact(STEP).zip(g.chunks_exact(STEP)).zip(b.chunks_exact(STEP));
    for (((r, g), b), out) in steps.zip(out.chunks_exact_mut(3 * STEP)) {
        store([load(r), load(g), load(b)], out);
    }
    // The last step overlaps the one before it.
    match r.len().checked_sub(STEP) {
        Some(at) => store([load(&r[at..]), load(&g[at..]), load(&b[at..])], &mut out[3 * at..]),
        None => scalar::interleave(r, g, b, out),
    }
}

/// The first 32 samples of a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn load(samples: &[u8]) -> __m256i {
    assert!(samples.len() >= STEP);
    // SAFETY: there are 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(samples.as_ptr().cast()) }
}

/// Red, green and blue of 32 pixels.
#[inline]
#[target_feature(enable = "avx2")]
fn ycc(y: __m256i, cb: __m256i, cr: __m256i) -> [__m256i; 3] {
    let zero = _mm256_setzero_si256();
    let halves = |v| [_mm256_unpacklo_epi8(v, zero), _mm256_unpackhi_epi8(v, zero)];
    let (y, cb, cr) = (halves(y), halves(cb), halves(cr));
    let (mut red, mut green, mut blue) = ([zero; 2], [zero; 2], [zero; 2]);
    for i in 0..2 {
        // Twice the centred value. The rounding multiplication by these factors gives 1.402 and 1.772 times the value
        // as the scalar twin rounds it, for all 256 of them.
        let twice = |v| _mm256_sub_epi16(_mm256_slli_epi16::<1>(v), _mm256_set1_epi16(256));
        let (cb, cr) = (twice(cb[i]), twice(cr[i]));
        red[i] = _mm256_add_epi16(y[i], _mm256_mulhrs_epi16(cr, _mm256_set1_epi16(22_971)));
        blue[i] = _mm256_add_epi16(y[i], _mm256_mulhrs_epi16(cb, _mm256_set1_epi16(29_033)));
        let term = |pairs| {
            // -0.34414 and -0.71414 of half the values, 16 fractional bits.
            let factors = _mm256_set1_epi32((-23_401 << 16) | (-11_277 & 0xffff));
            let sum = _mm256_madd_epi16(pairs, factors);
            _mm256_srai_epi32::<16>(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << 15)))
        };
        let terms =
            _mm256_packs_epi32(term(_mm256_unpacklo_epi16(cb, cr)), term(_mm256_unpackhi_epi16(cb, cr)));
        green[i] = _mm256_add_epi16(y[i], terms);
    }
    [red, green, blue].map(|[low, high]| _mm256_packus_epi16(low, high))
}

/// Writes 32 pixels to the first 96 bytes of a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn store(rgb: [__m256i; 3], out: &mut [u8]) {
    assert!(out.len() >= 3 * STEP);
    // Byte j of vector v of 16 interleaved pixels is channel (16 v + j) % 3 of pixel (16 v + j) / 3.
    const SHUFFLES: [[[i8; 16]; 3]; 3] = {
        let mut table = [[[-1; 16]; 3]; 3];
        let mut i = 0;
        while i < 48 {
            table[i / 16][i % 3][i % 16] = (i / 3) as i8;
            i += 1;
        }
        table
    };
    for (v, shuffles) in SHUFFLES.iter().enumerate() {
        let part = |channel: usize| {
            // SAFETY: the table's row is 16 bytes; the load needs no alignment.
            let shuffle = unsafe { _mm_loadu_si128(shuffles[channel].as_ptr().cast()) };
            _mm256_shuffle_epi8(rgb[channel], _mm256_broadcastsi128_si256(shuffle))
        };
        let bytes = _mm256_or_si256(_mm256_or_si256(part(0), part(1)), part(2));
        // SAFETY: 16 bytes at 16 v and at 48 + 16 v lie within the 96 bytes asserted above.
        unsafe {
            let out = out.as_mut_ptr().add(16 * v);
            _mm_storeu_si128(out.cast(), _mm256_castsi256_si128(bytes));
            _mm_storeu_si128(out.add(48).cast(), _mm256_extracti128_si256::<1>(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of colour differences, at several lumas, in rows of awkward lengths.
    #[test]
    fn equal_to_the_scalar_twin() {
        if !is_x86_feature_detected!("avx2") {
            eprintln!("SKIPPED: no AVX2 here");
            return;
        }
        for luma in [0, 1, 77, 128, 200, 254, 255] {
            for cb in (0..=255u8).step_by(if cfg!(miri) { 85 } else { 1 }) {
                let length = 256 - usize::from(cb % 40);
                let (y, cb) = (vec![luma; length], vec![cb; length]);
                let cr: Vec<u8> = (0..length).map(|i| i as u8).collect();
                let (mut want, mut got) = (vec![0; 3 * length], vec![0; 3 * length]);
                scalar::ycc_to_rgb(&y, &cb, &cr, &mut want);
                ycc_to_rgb(&y, &cb, &cr, &mut got);
                assert_eq!(got, want);
                scalar::interleave(&y, &cb, &cr, &mut want);
                interleave(&y, &cb, &cr, &mut got);
                assert_eq!(got, want);
            }
        }
    }
}
