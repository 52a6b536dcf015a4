//! The row operations compiled for AVX2. But for `saturate` they are the scalar bodies themselves; tests hold all of them
//! bit-equal to those.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

pub(crate) use crate::image::jpeg::vectors::avx2 as available;
use crate::image::rows_scalar as scalar;

/// Compiles a scalar body for AVX2.
macro_rules! compiled {
    ($(fn $name:ident($($arg:ident: $type:ty),*);)*) => {$(
        /// As the scalar function of the same name. Panics where there is no AVX2.
        pub(crate) fn $name($($arg: $type),*) {
            #[target_feature(enable = "avx2")]
            fn with_avx2($($arg: $type),*) {
                scalar::$name($($arg),*)
            }
            assert!(available());
            // SAFETY: AVX2 is there.
            unsafe { with_avx2($($arg),*) }
        }
    )*};
}

compiled! {
    fn blend(top: &[f32], bottom: &[f32], lerp: f32, out: &mut [f32]);
    fn multiply(row: &mut [f32], factor: f32);
    fn divide(row: &mut [f32], divisor: f32);
    fn normalize(row: &mut [f32], mean: &[f32], std: &[f32]);
    fn add_bytes(sums: &mut [f32], values: &[u8], scale: f32, weight: f32);
    fn add_floats(sums: &mut [f32], values: &[f32], weight: f32);
}

/// As the scalar function of the same name, for values that are numbers. Panics where there is no AVX2.
pub(crate) fn saturate(row: &[f32], out: &mut [u8]) {
    assert!(available());
    // SAFETY: AVX2 is there.
    unsafe { saturate_avx2(row, out) }
}

#[target_feature(enable = "avx2")]
fn saturate_avx2(row: &[f32], out: &mut [u8]) {
    assert_eq!(row.len(), out.len());
    let (values, rest) = row.as_chunks::<32>();
    let (bytes, bytes_rest) = out.as_chunks_mut::<32>();
    let (zero, most, factor) = (_mm256_setzero_ps(), _mm256_set1_ps(255.0), _mm256_set1_ps(255.5));
    // The packs work within halves; this brings the groups of four into order.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (values, bytes) in values.iter().zip(bytes.iter_mut()) {
        let whole = |k: usize| {
            // SAFETY: eight of 32 values from 8 k on, k below 4.
            let v = unsafe { _mm256_loadu_ps(values.as_ptr().add(8 * k)) };
            _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(_mm256_mul_ps(v, factor), zero), most))
        };
        let low = _mm256_packs_epi32(whole(0), whole(1));
        let high = _mm256_packs_epi32(whole(2), whole(3));
        let packed = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), packed) };
    }
    scalar::saturate(rest, bytes_rest);
}
