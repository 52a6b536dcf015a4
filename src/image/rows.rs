//! What is done to whole rows, in vectors where the machine has them: one body for both, so that bits are the same.

#[cfg(target_arch = "x86_64")]
use crate::image::rows_avx2 as avx2;
use crate::image::rows_scalar as scalar;

/// f32(1/255): what TensorFlow multiplies by.
pub(crate) const INVERSE_255: f32 = 1.0 / 255.0;

/// Calls the AVX2 build of a function where there is AVX2, else the plain one.
macro_rules! dispatch {
    ($name:ident($($arg:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if avx2::available() {
            return avx2::$name($($arg),*);
        }
        scalar::$name($($arg),*)
    }};
}

/// Interpolates between two rows: `top + (bottom - top) * lerp`.
pub(crate) fn blend(top: &[f32], bottom: &[f32], lerp: f32, out: &mut [f32]) {
    dispatch!(blend(top, bottom, lerp, out))
}

/// Multiplies values.
pub(crate) fn multiply(row: &mut [f32], factor: f32) {
    dispatch!(multiply(row, factor))
}

/// Divides values.
pub(crate) fn divide(row: &mut [f32], divisor: f32) {
    dispatch!(divide(row, divisor))
}

/// `(value - mean) / std`, with one mean and one std an element.
pub(crate) fn normalize(row: &mut [f32], mean: &[f32], std: &[f32]) {
    dispatch!(normalize(row, mean, std))
}

/// `tf.image.convert_image_dtype(.., tf.uint8, saturate=True)`.
pub(crate) fn saturate(row: &[f32], out: &mut [u8]) {
    dispatch!(saturate(row, out))
}

/// Adds `values * scale * weight` to sums.
pub(crate) fn add_bytes(sums: &mut [f32], values: &[u8], scale: f32, weight: f32) {
    dispatch!(add_bytes(sums, values, scale, weight))
}

/// Adds `values * weight` to sums.
pub(crate) fn add_floats(sums: &mut [f32], values: &[f32], weight: f32) {
    dispatch!(add_floats(sums, values, weight))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Values with all kinds of fractions, some outside of [0, 1].
    fn floats(seed: u32, len: usize) -> Vec<f32> {
        (0..len as u32).map(|i| (i * 7919 + seed * 104_729) as f32 * 0.618_034 % 1.7 - 0.3).collect()
    }

    #[test]
    fn vectors_equal_scalars_at_every_length() {
        if !avx2::available() {
            eprintln!("no AVX2 here: nothing to compare");
            return;
        }
        for len in (0..70).chain([672, 1000]).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let (a, b, c) = (floats(1, len), floats(2, len), floats(3, len));
            let bytes: Vec<u8> = (0..len).map(|i| (i * 37) as u8).collect();
            let same = |name: &str, run: &dyn Fn(bool, &mut Vec<f32>)| {
                let (mut plain, mut vector) = (a.clone(), a.clone());
                run(false, &mut plain);
                run(true, &mut vector);
                let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&plain), bits(&vector), "{name} {len}");
            };
            same("blend", &|simd, out| {
                if simd { avx2::blend(&b, &c, 0.37, out) } else { scalar::blend(&b, &c, 0.37, out) }
            });
            same("multiply", &|simd, out| {
                if simd { avx2::multiply(out, INVERSE_255) } else { scalar::multiply(out, INVERSE_255) }
            });
            same("divide", &|simd, out| {
                if simd { avx2::divide(out, 255.0) } else { scalar::divide(out, 255.0) }
            });
            same("normalize", &|simd, out| {
                if simd { avx2::normalize(out, &b, &c) } else { scalar::normalize(out, &b, &c) }
            });
            same("add_bytes", &|simd, out| {
                let add = if simd { avx2::add_bytes } else { scalar::add_bytes };
                add(out, &bytes, INVERSE_255, 0.77);
            });
            same("add_floats", &|simd, out| {
                if simd { avx2::add_floats(out, &b, 0.77) } else { scalar::add_floats(out, &b, 0.77) }
            });
            let (mut plain, mut vector) = (vec![0; len], vec![0; len]);
            scalar::saturate(&a, &mut plain);
            avx2::saturate(&a, &mut vector);
            assert_eq!(plain, vector, "saturate {len}");
        }
    }
}
