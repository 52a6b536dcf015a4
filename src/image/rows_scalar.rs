//! The bodies of the row operations, which are compiled twice: for any machine, and for vectors.

#[inline(always)]
pub(crate) fn blend(top: &[f32], bottom: &[f32], lerp: f32, out: &mut [f32]) {
    for ((out, top), bottom) in out.iter_mut().zip(top).zip(bottom) {
        *out = top + (bottom - top) * lerp;
    }
}

#[inline(always)]
pub(crate) fn multiply(row: &mut [f32], factor: f32) {
    row.iter_mut().for_each(|v| *v *= factor);
}

#[inline(always)]
pub(crate) fn divide(row: &mut [f32], divisor: f32) {
    row.iter_mut().for_each(|v| *v /= divisor);
}

#[inline(always)]
pub(crate) fn normalize(row: &mut [f32], mean: &[f32], std: &[f32]) {
    for ((v, mean), std) in row.iter_mut().zip(mean).zip(std) {
        *v = (*v - mean) / std;
    }
}

#[inline(always)]
pub(crate) fn saturate(row: &[f32], out: &mut [u8]) {
    for (out, v) in out.iter_mut().zip(row) {
        *out = (*v * 255.5).clamp(0.0, 255.0) as u8;
    }
}

#[inline(always)]
pub(crate) fn add_bytes(sums: &mut [f32], values: &[u8], scale: f32, weight: f32) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += weight * (f32::from(*value) * scale);
    }
}

#[inline(always)]
pub(crate) fn add_floats(sums: &mut [f32], values: &[f32], weight: f32) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += weight * value;
    }
}
