//! The horizontal two-tap kernel in AVX2; its scalar twin is `Columns::apply`, with which tests hold it bit-equal.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::image::resize::two_tap::{Columns, PADDING};
use crate::image::rows_avx2::available;

/// Interpolates a row of RGB pixels into `out`, of which it may write up to `PADDING` elements past the last pixel.
///
/// # Panics
/// Where AVX2 is missing, `out` is too short, or a tap lies outside the row.
pub(crate) fn columns_rgb(columns: &Columns, row: &[u8], scale: f32, out: &mut [f32]) {
    assert!(available());
    // SAFETY: AVX2 is there.
    unsafe { columns_rgb_avx2(columns, row, scale, out) }
}

#[target_feature(enable = "avx2")]
fn columns_rgb_avx2(columns: &Columns, row: &[u8], scale: f32, out: &mut [f32]) {
    let count = columns.lower.len();
    assert!(columns.channels == 3 && columns.upper.len() == count && columns.lerp4.len() == 4 * count);
    assert!(out.len() >= 3 * count + PADDING);

    // Taps ascend, or descend where the picture is mirrored; those whose 8 bytes would pass the row's end go alone.
    let fits = |offset: &u32| *offset as usize + 8 <= row.len();
    let (first, last) = if columns.lower.first() <= columns.lower.last() {
        (0, columns.lower.partition_point(fits))
    } else {
        (columns.lower.partition_point(|offset| !fits(offset)), count)
    };
    let farthest = columns.lower[first..last].iter().copied().max().unwrap_or(0);
    assert!(first == last || fits(&farthest));
    let pairs = (last - first) / 2;

    let scale8 = _mm256_set1_ps(scale);
    // Of 8 bytes, here twice in each half: the three of the left tap and of the right one, each to 32 bits.
    let left_tap = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, -1, -1, -1, -1,
    ));
    let right_tap = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        3, -1, -1, -1, 4, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1, -1,
    ));
    for pair in 0..pairs {
        let x = first + 2 * pair;
        let (a, b) = (columns.lower[x] as usize, columns.lower[x + 1] as usize);
        // SAFETY: x and x + 1 lie in first..last, and 8 bytes from the farthest offset there do not pass the row's end.
        let (a, b) = unsafe {
            (
                row.as_ptr().add(a).cast::<i64>().read_unaligned(),
                row.as_ptr().add(b).cast::<i64>().read_unaligned(),
            )
        };
        // Loads and a blend, so that the units that shuffle are left to the two shuffles.
        let bytes = _mm256_blend_epi32::<0xf0>(_mm256_set1_epi64x(a), _mm256_set1_epi64x(b));
        let value_of = |tap| _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_shuffle_epi8(bytes, tap)), scale8);
        let (left, right) = (value_of(left_tap), value_of(right_tap));
        // SAFETY: x + 2 <= count, and lerp4 has four elements for each.
        let lerp = unsafe { _mm256_loadu_ps(columns.lerp4.as_ptr().add(4 * x)) };
        let value = _mm256_add_ps(left, _mm256_mul_ps(_mm256_sub_ps(right, left), lerp));
        // SAFETY: writes end at 3 (x + 1) + 4, at most 3 count + 1. The fourth element is written over by the next pixel.
        unsafe {
            _mm_storeu_ps(out.as_mut_ptr().add(3 * x), _mm256_castps256_ps128(value));
            _mm_storeu_ps(out.as_mut_ptr().add(3 * x + 3), _mm256_extractf128_ps::<1>(value));
        }
    }
    for x in (0..first).chain(first + 2 * pairs..count) {
        columns.pixel(x, row, scale, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::resize::axis::Axis;
    use crate::image::spec::Coordinates;

    #[test]
    fn vectors_equal_scalars_for_all_widths() {
        if !available() {
            eprintln!("no AVX2 here: nothing to compare");
            return;
        }
        let mut columns = Columns::default();
        // Miri is a thousand times slower.
        let sizes = |most, large: [u32; 2]| -> Vec<u32> {
            if cfg!(miri) { vec![1, 2, 9, 17] } else { (1..most).chain(large).collect() }
        };
        for input in sizes(40, [500, 1023]) {
            let row: Vec<u8> = (0..3 * input).map(|i| (i * i * 31 + 7 * i) as u8).collect();
            for output in sizes(30, [224, 1000]) {
                for coordinates in
                    [Coordinates::HalfPixel, Coordinates::Asymmetric, Coordinates::AlignCorners]
                {
                    for flip in [false, true] {
                        let axis = Axis { input, output, from: 0, len: output, flip, coordinates };
                        columns.fill((axis, 3));
                        let len = 3 * output as usize;
                        let (mut plain, mut vector) = (vec![9.0; len + PADDING], vec![9.0; len + PADDING]);
                        columns.apply(&row, 1.0 / 255.0, &mut plain);
                        columns_rgb(&columns, &row, 1.0 / 255.0, &mut vector);
                        assert_eq!(plain[..len], vector[..len], "{axis:?}");
                    }
                }
            }
        }
    }
}
