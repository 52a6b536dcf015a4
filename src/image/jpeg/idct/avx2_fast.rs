//! The fast transform with the instructions of AVX2 machines: a line of eight 16-bit numbers a register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::Multipliers;
use super::scalar::{F1082, F1414, F1847, MF1613};
use crate::image::jpeg::frame::COEFFICIENTS;

/// One dimension, step for step as in the scalar twin.
#[inline]
#[target_feature(enable = "avx2")]
fn lines(x: [__m128i; 8]) -> [__m128i; 8] {
    let add = |a, b| _mm_add_epi16(a, b);
    let sub = |a, b| _mm_sub_epi16(a, b);
    let twice_twice = |a| _mm_slli_epi16::<2>(a);
    let multiply = |a, c| _mm_mulhi_epi16(a, _mm_set1_epi16(c));

    let (sum04, difference04, sum26) = (add(x[0], x[4]), sub(x[0], x[4]), add(x[2], x[6]));
    let turned = sub(multiply(twice_twice(sub(x[2], x[6])), F1414), sum26);
    let even = [add(sum04, sum26), add(difference04, turned), sub(difference04, turned), sub(sum04, sum26)];

    let (z10, z11) = (sub(x[5], x[3]), add(x[1], x[7]));
    let (z12, z13) = (sub(x[1], x[7]), add(x[5], x[3]));
    let (z10_shifted, z12_shifted) = (twice_twice(z10), twice_twice(z12));
    let z5 = multiply(add(z10_shifted, z12_shifted), F1847);
    let odd0 = add(z11, z13);
    let odd1 = sub(add(sub(multiply(z10_shifted, MF1613), z10), z5), odd0);
    let odd2 = sub(multiply(twice_twice(sub(z11, z13)), F1414), odd1);
    let odd3 = add(sub(multiply(z12_shifted, F1082), z5), odd2);
    [
        add(even[0], odd0),
        add(even[1], odd1),
        add(even[2], odd2),
        sub(even[3], odd3),
        add(even[3], odd3),
        sub(even[2], odd2),
        sub(even[1], odd1),
        sub(even[0], odd0),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn transpose(x: [__m128i; 8]) -> [__m128i; 8] {
    let low16 = |i, j| _mm_unpacklo_epi16(x[i], x[j]);
    let high16 = |i, j| _mm_unpackhi_epi16(x[i], x[j]);
    let (a, b, c, d) = (low16(0, 1), low16(2, 3), low16(4, 5), low16(6, 7));
    let (e, f, g, h) = (high16(0, 1), high16(2, 3), high16(4, 5), high16(6, 7));
    let quad = |a, b, c, d| {
        let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab, cd),
            _mm_unpackhi_epi64(ab, cd),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ]
    };
    let ([p, q, r, s], [t, u, v, w]) = (quad(a, b, c, d), quad(e, f, g, h));
    [p, q, r, s, t, u, v, w]
}

/// The transform that libjpeg calls "ifast", for coefficients and multipliers in natural order.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn fast(
    block: &[i16; COEFFICIENTS],
    multipliers: &Multipliers,
    out: &mut [u8],
    stride: usize,
) {
    let (coefficients, factors) =
        (block.as_ptr().cast::<__m128i>(), multipliers.0.as_ptr().cast::<__m128i>());
    let input: [__m128i; 8] = std::array::from_fn(|i| {
        // SAFETY: both arrays are eight vectors long; the loads need no alignment.
        unsafe { _mm_mullo_epi16(_mm_loadu_si128(coefficients.add(i)), _mm_loadu_si128(factors.add(i))) }
    });
    let columns = lines(transpose(lines(input))).map(|v| _mm_srai_epi16::<5>(v));

    // Columns of bytes, interleaved step by step until they are rows.
    let pack = |i: usize, j: usize| _mm_packs_epi16(columns[i], columns[j]);
    let pairs = |a, b| [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)];
    let [c01, c23] = pairs(pack(0, 2), pack(1, 3));
    let [c45, c67] = pairs(pack(4, 6), pack(5, 7));
    let center = _mm_set1_epi8(-128);
    let rows = |left, right| {
        [
            _mm_xor_si128(_mm_unpacklo_epi32(left, right), center),
            _mm_xor_si128(_mm_unpackhi_epi32(left, right), center),
        ]
    };
    let [r01, r23] = rows(_mm_unpacklo_epi16(c01, c23), _mm_unpacklo_epi16(c45, c67));
    let [r45, r67] = rows(_mm_unpackhi_epi16(c01, c23), _mm_unpackhi_epi16(c45, c67));

    assert!(stride >= 8 && out.len() >= 7 * stride + 8);
    let out = out.as_mut_ptr();
    for (i, rows) in [r01, r23, r45, r67].into_iter().enumerate() {
        // SAFETY: rows 0 to 7 of eight bytes at this stride lie within the slice, as asserted.
        unsafe {
            _mm_storel_epi64(out.add(2 * i * stride).cast(), rows);
            _mm_storeh_pd(out.add((2 * i + 1) * stride).cast(), _mm_castsi128_pd(rows));
        }
    }
}
