//! The accurate transform with AVX2: a whole block in four registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::scalar::{self, EVEN, ODD, ROTATE};
use super::{Multipliers, Order};
use crate::image::jpeg::frame::{COEFFICIENTS, NATURAL};

/// Columns in the order of the 32-bit lanes of a register of row pairs.
const COLUMNS: [usize; 8] = [0, 4, 2, 6, 7, 1, 3, 5];
/// Rows whose coefficients lie side by side, by register.
const PAIRS: [[usize; 2]; 4] = [[0, 4], [2, 6], [7, 1], [3, 5]];

/// Where the coefficients lie in memory: the pairs that are multiplied and summed side by side, and the columns so
/// that the same pairs of columns end up side by side after the first pass.
pub(in super::super) static PAIRED: Order = paired();

const fn paired() -> Order {
    let mut of_natural = [0; COEFFICIENTS];
    let mut i = 0;
    while i < COEFFICIENTS {
        let (register, lane, half) = (i / 16, i % 16 / 2, i % 2);
        of_natural[PAIRS[register][half] * 8 + COLUMNS[lane]] = i as u8;
        i += 1;
    }
    let mut order = [0; 256];
    let mut k = 0;
    while k < 256 {
        order[k] = of_natural[NATURAL[k] as usize];
        k += 1;
    }
    order
}

/// Two 16-bit constants in every 32-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(low: i32, high: i32) -> __m256i {
    _mm256_set1_epi32((high << 16) | (low & 0xffff))
}

/// One dimension: from pairs of lines (0, 4), (2, 6), (7, 1) and (3, 5) to eight lines of 32-bit sums, with half a
/// unit of the last place that is kept added.
#[inline]
#[target_feature(enable = "avx2")]
fn lines(x: [__m256i; 4], half: i32) -> [__m256i; 8] {
    let [x04, x26, x71, x35] = x;
    // 16-bit sums, then 13 fractional bits.
    let widen = |sums| _mm256_srai_epi32::<3>(_mm256_slli_epi32::<16>(sums));
    let half = _mm256_set1_epi32(half);
    let sum = _mm256_add_epi32(widen(_mm256_madd_epi16(x04, pair(1, 1))), half);
    let difference = _mm256_add_epi32(widen(_mm256_madd_epi16(x04, pair(1, -1))), half);
    let a = _mm256_madd_epi16(x26, pair(EVEN[0], EVEN[1]));
    let b = _mm256_madd_epi16(x26, pair(EVEN[1], EVEN[2]));
    let even = [
        _mm256_add_epi32(sum, a),
        _mm256_add_epi32(difference, b),
        _mm256_sub_epi32(difference, b),
        _mm256_sub_epi32(sum, a),
    ];
    let z = _mm256_add_epi16(x71, x35);
    // z holds (x7 + x3, x1 + x5).
    let c = _mm256_madd_epi16(z, pair(ROTATE[0], ROTATE[1]));
    let d = _mm256_madd_epi16(z, pair(ROTATE[1], ROTATE[2]));
    let odd = [
        _mm256_add_epi32(_mm256_madd_epi16(x71, pair(ODD[1], ODD[2])), d),
        _mm256_add_epi32(_mm256_madd_epi16(x35, pair(ODD[5], ODD[4])), c),
        _mm256_add_epi32(_mm256_madd_epi16(x35, pair(ODD[4], ODD[3])), d),
        _mm256_add_epi32(_mm256_madd_epi16(x71, pair(ODD[0], ODD[1])), c),
    ];
    [
        _mm256_add_epi32(even[0], odd[0]),
        _mm256_add_epi32(even[1], odd[1]),
        _mm256_add_epi32(even[2], odd[2]),
        _mm256_add_epi32(even[3], odd[3]),
        _mm256_sub_epi32(even[3], odd[3]),
        _mm256_sub_epi32(even[2], odd[2]),
        _mm256_sub_epi32(even[1], odd[1]),
        _mm256_sub_epi32(even[0], odd[0]),
    ]
}

/// The transform that libjpeg calls "islow", for coefficients and multipliers in the order [`PAIRED`].
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn accurate(
    block: &[i16; COEFFICIENTS],
    multipliers: &Multipliers,
    out: &mut [u8],
    stride: usize,
) {
    let (coefficients, factors) =
        (block.as_ptr().cast::<__m256i>(), multipliers.0.as_ptr().cast::<__m256i>());
    let input: [__m256i; 4] = std::array::from_fn(|i| {
        // SAFETY: both arrays are four vectors long; the loads need no alignment.
        unsafe {
            _mm256_mullo_epi16(_mm256_loadu_si256(coefficients.add(i)), _mm256_loadu_si256(factors.add(i)))
        }
    });
    // The scalar twin shifts a lone first row by two with wrap-around, where these sums would saturate.
    let shifted = _mm256_srai_epi16::<2>(_mm256_slli_epi16::<2>(input[0]));
    if _mm256_movemask_epi8(_mm256_cmpeq_epi16(shifted, input[0])) != -1 {
        return by_scalar(block, multipliers, out, stride);
    }

    let middle = lines(input, 1 << 10).map(|v| _mm256_srai_epi32::<11>(v));
    // Two rows: column pairs (0, 4) and (2, 6) of each in the low half, (7, 1) and (3, 5) in the high half.
    let rows: [__m256i; 4] = std::array::from_fn(|i| _mm256_packs_epi32(middle[2 * i], middle[2 * i + 1]));
    let even =
        |a, b| _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
    let odd =
        |a, b| _mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
    let (top_04_71, top_26_35) = (even(rows[0], rows[1]), odd(rows[0], rows[1]));
    let (low_04_71, low_26_35) = (even(rows[2], rows[3]), odd(rows[2], rows[3]));
    let columns = [
        _mm256_permute2x128_si256::<0x20>(top_04_71, low_04_71),
        _mm256_permute2x128_si256::<0x20>(top_26_35, low_26_35),
        _mm256_permute2x128_si256::<0x31>(top_04_71, low_04_71),
        _mm256_permute2x128_si256::<0x31>(top_26_35, low_26_35),
    ];

    let last = lines(columns, 1 << 17).map(|v| _mm256_srai_epi32::<18>(v));
    // Bytes of rows 0 to 3 and 4 to 7 by column, then by row.
    let bytes = |i: usize| {
        let (a, b) = (_mm256_packs_epi32(last[i], last[i + 1]), _mm256_packs_epi32(last[i + 2], last[i + 3]));
        let transpose =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
        _mm256_shuffle_epi8(_mm256_packs_epi16(a, b), transpose)
    };
    let center = _mm256_set1_epi8(-128);
    let (left, right) = (_mm256_xor_si256(bytes(0), center), _mm256_xor_si256(bytes(4), center));
    let (rows_01_45, rows_23_67) = (_mm256_unpacklo_epi32(left, right), _mm256_unpackhi_epi32(left, right));

    assert!(stride >= 8 && out.len() >= 7 * stride + 8);
    let out = out.as_mut_ptr();
    let store = |row: usize, rows: __m128i| {
        // SAFETY: rows 0 to 7 of eight bytes at this stride lie within the slice, as asserted.
        unsafe {
            _mm_storel_epi64(out.add(row * stride).cast(), rows);
            _mm_storeh_pd(out.add((row + 1) * stride).cast(), _mm_castsi128_pd(rows));
        }
    };
    store(0, _mm256_castsi256_si128(rows_01_45));
    store(2, _mm256_castsi256_si128(rows_23_67));
    store(4, _mm256_extracti128_si256::<1>(rows_01_45));
    store(6, _mm256_extracti128_si256::<1>(rows_23_67));
}

/// The same by the scalar twin.
#[cold]
#[inline(never)]
fn by_scalar(block: &[i16; COEFFICIENTS], multipliers: &Multipliers, out: &mut [u8], stride: usize) {
    let mut natural = ([0; COEFFICIENTS], Multipliers([0; COEFFICIENTS]));
    for k in 0..COEFFICIENTS {
        let (to, from) = (usize::from(NATURAL[k]), usize::from(PAIRED[k]));
        natural.0[to] = block[from];
        natural.1.0[to] = multipliers.0[from];
    }
    scalar::accurate(&natural.0, &natural.1, out, stride);
}
