//! The upsampling kernels with AVX2, 32 samples at a time; rows shorter than that are left to the plain ones.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::scalar;

/// Input samples of a step.
const STEP: usize = 32;

/// Twice as wide.
pub(super) fn h2(input: &[u8], out: &mut [u8]) {
    // SAFETY: these kernels are only chosen where AVX2 is detected.
    unsafe { h2_avx2(input, out) }
}

/// Twice as high.
pub(super) fn v2(near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
    // SAFETY: these kernels are only chosen where AVX2 is detected.
    unsafe { v2_avx2(near, far, bias, out) }
}

/// Twice as wide and high.
pub(super) fn h2v2(near: &[u8], far: &[u8], out: &mut [u8]) {
    // SAFETY: these kernels are only chosen where AVX2 is detected.
    unsafe { h2v2_avx2(near, far, out) }
}

/// Where the steps over a row begin: the last overlaps the one before it. None for a row shorter than a step.
#[inline(always)]
fn steps(length: usize) -> Option<impl Iterator<Item = usize>> {
    let last = length.checked_sub(STEP)?;
    Some((0..last).step_by(STEP).chain([last]))
}

#[target_feature(enable = "avx2")]
fn h2_avx2(input: &[u8], out: &mut [u8]) {
    let Some(steps) = steps(input.len() - 2) else { return scalar::h2(input, out) };
    for i in steps {
        let at = |shift| halves(load(&input[i + shift..]));
        let (left, middle, right) = (at(0), at(1), at(2));
        let (mut even, mut odd) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
        for h in 0..2 {
            let middle = _mm256_mullo_epi16(middle[h], _mm256_set1_epi16(3));
            let weigh = |side, bias| {
                let sum = _mm256_add_epi16(_mm256_add_epi16(middle, side), _mm256_set1_epi16(bias));
                _mm256_srli_epi16::<2>(sum)
            };
            even[h] = weigh(left[h], 1);
            odd[h] = weigh(right[h], 2);
        }
        store_pairs(even, odd, &mut out[2 * i..]);
    }
}

#[target_feature(enable = "avx2")]
fn v2_avx2(near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
    let Some(steps) = steps(near.len()) else { return scalar::v2(near, far, bias, out) };
    for i in steps {
        let (near, far) = (halves(load(&near[i..])), halves(load(&far[i..])));
        let weigh = |h: usize| {
            let sum = _mm256_add_epi16(_mm256_mullo_epi16(near[h], _mm256_set1_epi16(3)), far[h]);
            _mm256_srli_epi16::<2>(_mm256_add_epi16(sum, _mm256_set1_epi16(i16::from(bias))))
        };
        store(_mm256_packus_epi16(weigh(0), weigh(1)), &mut out[i..]);
    }
}

#[target_feature(enable = "avx2")]
fn h2v2_avx2(near: &[u8], far: &[u8], out: &mut [u8]) {
    let Some(steps) = steps(near.len() - 2) else { return scalar::h2v2(near, far, out) };
    for i in steps {
        let at = |shift| {
            let (near, far) = (halves(load(&near[i + shift..])), halves(load(&far[i + shift..])));
            let sum = |h: usize| _mm256_add_epi16(_mm256_mullo_epi16(near[h], _mm256_set1_epi16(3)), far[h]);
            [sum(0), sum(1)]
        };
        let (left, middle, right) = (at(0), at(1), at(2));
        let (mut even, mut odd) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
        for h in 0..2 {
            let middle = _mm256_mullo_epi16(middle[h], _mm256_set1_epi16(3));
            let weigh = |side, bias| {
                let sum = _mm256_add_epi16(_mm256_add_epi16(middle, side), _mm256_set1_epi16(bias));
                _mm256_srli_epi16::<4>(sum)
            };
            even[h] = weigh(left[h], 8);
            odd[h] = weigh(right[h], 7);
        }
        store_pairs(even, odd, &mut out[2 * i..]);
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

/// Writes 32 samples to a slice.
#[inline]
#[target_feature(enable = "avx2")]
fn store(samples: __m256i, out: &mut [u8]) {
    assert!(out.len() >= STEP);
    // SAFETY: there are 32 bytes; the store needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), samples) }
}

/// Samples as 16-bit numbers: the low eight of each half register, then the high eight.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(samples: __m256i) -> [__m256i; 2] {
    let zero = _mm256_setzero_si256();
    [_mm256_unpacklo_epi8(samples, zero), _mm256_unpackhi_epi8(samples, zero)]
}

/// Writes 32 even and 32 odd samples (of less than 256, in the layout of [`halves`]) alternating.
#[inline]
#[target_feature(enable = "avx2")]
fn store_pairs(even: [__m256i; 2], odd: [__m256i; 2], out: &mut [u8]) {
    let pairs = |h: usize| _mm256_or_si256(even[h], _mm256_slli_epi16::<8>(odd[h]));
    let (low, high) = (pairs(0), pairs(1));
    store(_mm256_permute2x128_si256::<0x20>(low, high), out);
    store(_mm256_permute2x128_si256::<0x31>(low, high), &mut out[STEP..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_the_scalar_twins() {
        if !is_x86_feature_detected!("avx2") {
            eprintln!("SKIPPED: no AVX2 here");
            return;
        }
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            [0, 255, (state >> 24) as u8][(state >> 20) as usize % 3]
        };
        for length in (1..200).step_by(if cfg!(miri) { 23 } else { 1 }) {
            let near: Vec<u8> = (0..length + 2).map(|_| random()).collect();
            let far: Vec<u8> = (0..length + 2).map(|_| random()).collect();
            let (mut want, mut got) = (vec![0; 2 * length], vec![0; 2 * length]);
            scalar::h2(&near, &mut want);
            h2(&near, &mut got);
            assert_eq!(got, want);
            scalar::h2v2(&near, &far, &mut want);
            h2v2(&near, &far, &mut got);
            assert_eq!(got, want);
            for bias in [1, 2] {
                scalar::v2(&near[2..], &far[2..], bias, &mut want[..length]);
                v2(&near[2..], &far[2..], bias, &mut got[..length]);
                assert_eq!(got, want);
            }
        }
    }
}
