//! Pillow's resampling of 8-bit pictures: a kernel in fixed point, columns first, then rows, each rounded to 8 bits.

use crate::image::resize::axis::Axis;
#[cfg(target_arch = "x86_64")]
use crate::image::resize::pillow_avx2 as avx2;
use crate::image::resize::pillow_taps::{HALF, PRECISION, PillowTaps};
use crate::image::resize::view::View;
#[cfg(target_arch = "x86_64")]
use crate::image::rows_avx2::available;
use crate::image::target::Target;

/// Bytes after a row that a horizontal kernel may read.
const PADDING: usize = 16;

/// Memory reused from picture to picture.
#[derive(Default)]
pub(crate) struct Scratch {
    premultiplied: Vec<u8>,
    columns: Vec<u8>,
    sums: Vec<i32>,
    /// A row of the output, and one as wide as the source.
    pair: [Vec<u8>; 2],
}

/// How one picture is resized.
pub(crate) struct Job<'a> {
    pub vertical: &'a PillowTaps,
    pub horizontal: &'a PillowTaps,
    /// Whether rows come before columns; see [`rows_first`].
    pub rows_first: bool,
    /// Whether colours are weighted by alpha: with four channels, unless the size stays the same.
    pub premultiply: bool,
}

/// Whether Pillow (13) resizes rows before columns: where the height shrinks by more than twice what the width does. The
/// order shows in the last bit, because each pass rounds. Earlier versions always begin with the columns.
pub(crate) fn rows_first(vertical: Axis, horizontal: Axis) -> bool {
    let shrinks = |axis: Axis| i64::from(axis.input) - i64::from(axis.output);
    shrinks(vertical) > 0 && shrinks(vertical) > 2 * shrinks(horizontal)
}

/// Resizes the view.
pub(crate) fn resize(view: View<'_, u8>, job: &Job<'_>, scratch: &mut Scratch, target: &mut Target<'_>) {
    let Job { vertical, horizontal, .. } = job;
    let Scratch { premultiplied, columns, sums, pair: [row, wide] } = scratch;
    let mut view = view;
    if job.premultiply {
        premultiplied.clear();
        (0..view.height).for_each(|y| premultiply(view.row(y), premultiplied));
        view = View { data: premultiplied, stride: view.width as usize * view.channels, ..view };
    }
    let channels = view.channels;
    let len = horizontal.len() * channels;
    row.resize(len, 0);
    let wide_len = view.width as usize * channels;
    wide.clear();
    wide.resize(2 * (wide_len + PADDING), 0);
    let (first_row, end_row) = vertical.reach();
    if !job.rows_first {
        // Only of the rows that are needed; two at once.
        columns.resize((end_row - first_row) * len, 0);
        for (i, out) in columns.chunks_mut(2 * len).enumerate() {
            let y = first_row + 2 * i;
            let last = y + out.len() / len - 1;
            let (above, below) = wide.split_at_mut(wide_len + PADDING);
            above[..wide_len].copy_from_slice(view.row(y as u32));
            below[..wide_len].copy_from_slice(view.row(last as u32));
            let (out, out_below) = out.split_at_mut(len);
            row.resize(len, 0);
            let out_below = if out_below.is_empty() { &mut row[..] } else { out_below };
            self::columns([above, below], horizontal, channels, [out, out_below]);
        }
    }
    for y in 0..vertical.len() {
        if job.rows_first {
            let (wide, spare) = wide.split_at_mut(wide_len + PADDING);
            blend(vertical.of(y), |k| view.row(k as u32), sums, &mut wide[..wide_len]);
            columns.resize(len, 0);
            self::columns([wide, spare], horizontal, channels, [row, columns]);
        } else {
            blend(vertical.of(y), |k| &columns[(k - first_row) * len..][..len], sums, row);
        }
        if job.premultiply {
            divide_by_alpha(row);
        }
        target.row_u8(y as u32, row);
    }
}

/// A weighted sum of rows, rounded.
fn blend<'a>(
    (first, weights): (usize, &[i32]),
    source: impl Fn(usize) -> &'a [u8],
    sums: &mut Vec<i32>,
    out: &mut [u8],
) {
    let source = |k| source(first + k);
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    if available() {
        done = avx2::rows(weights, source, out);
    }
    rows_of(weights, |k| &source(k)[done..], sums, &mut out[done..]);
}

fn rows_of<'a>(weights: &[i32], source: impl Fn(usize) -> &'a [u8], sums: &mut Vec<i32>, out: &mut [u8]) {
    sums.clear();
    sums.resize(out.len(), HALF);
    for (k, weight) in weights.iter().enumerate() {
        for (sum, value) in sums.iter_mut().zip(source(k)) {
            *sum += i32::from(*value) * weight;
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = clip(*sum);
    }
}

/// A sum less its fraction bits, as a byte.
fn clip(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// Weighted sums along two rows, rounded. Each row is followed by [`PADDING`] bytes that do not count.
fn columns(padded: [&[u8]; 2], taps: &PillowTaps, channels: usize, out: [&mut [u8]; 2]) {
    #[cfg(target_arch = "x86_64")]
    if channels == 3 && available() {
        return avx2::columns_rgb(padded, &taps.pairs, out);
    }
    for (padded, out) in padded.into_iter().zip(out) {
        match channels {
            1 => columns_of::<1>(padded, taps, out),
            3 => columns_of::<3>(padded, taps, out),
            _ => columns_of::<4>(padded, taps, out),
        }
    }
}

fn columns_of<const C: usize>(row: &[u8], taps: &PillowTaps, out: &mut [u8]) {
    let (row, _) = row.as_chunks::<C>();
    let (out, _) = out.as_chunks_mut::<C>();
    for (x, out) in out.iter_mut().enumerate() {
        let (first, weights) = taps.of(x);
        let mut sum = [HALF; C];
        for (pixel, weight) in row[first..].iter().zip(weights) {
            for c in 0..C {
                sum[c] += i32::from(pixel[c]) * weight;
            }
        }
        *out = sum.map(clip);
    }
}

/// Pillow's RGBA to RGBa.
fn premultiply(row: &[u8], out: &mut Vec<u8>) {
    for pixel in row.as_chunks::<4>().0 {
        let [r, g, b, a] = *pixel;
        let times = |v: u8| {
            let product = u32::from(v) * u32::from(a) + 128;
            (((product >> 8) + product) >> 8) as u8
        };
        out.extend([times(r), times(g), times(b), a]);
    }
}

/// Pillow's RGBa to RGBA.
fn divide_by_alpha(row: &mut [u8]) {
    for [r, g, b, a] in row.as_chunks_mut::<4>().0 {
        if !matches!(*a, 0 | 255) {
            for v in [r, g, b] {
                *v = (255 * u32::from(*v) / u32::from(*a)).min(255) as u8;
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::image::spec::Coordinates;
    use crate::image::spec::Method;

    /// All small sizes and a large one; Miri is a thousand times slower.
    fn sizes(large: u32) -> Vec<u32> {
        if cfg!(miri) { vec![1, 2, 9, 17] } else { (1..30).chain([large]).collect() }
    }

    #[test]
    fn vectors_equal_scalars_for_all_widths() {
        if !available() {
            eprintln!("no AVX2 here: nothing to compare");
            return;
        }
        let mut taps = PillowTaps::default();
        for method in
            [Method::PillowBox, Method::PillowBilinear, Method::PillowBicubic, Method::PillowLanczos]
        {
            for input in sizes(500) {
                let mut row: Vec<u8> = (0..3 * input).map(|i| (i * i * 31 + 7 * i) as u8).collect();
                row.resize(row.len() + PADDING, 0);
                for output in sizes(224) {
                    let coordinates = Coordinates::HalfPixel;
                    let axis =
                        Axis { input, output, from: 0, len: output, flip: input % 2 == 0, coordinates };
                    taps.fill(axis, method);
                    let len = 3 * output as usize;
                    let (mut plain, mut vector, mut below) = (vec![9; len], vec![7; len], vec![6; len]);
                    let reversed: Vec<u8> = row.iter().rev().copied().collect();
                    avx2::columns_rgb([&row, &reversed], &taps.pairs, [&mut vector, &mut below]);
                    columns_of::<3>(&row, &taps, &mut plain);
                    assert_eq!(plain, vector, "{method:?} {axis:?}");
                    columns_of::<3>(&reversed, &taps, &mut plain);
                    assert_eq!(plain, below, "{method:?} {axis:?}");
                }
            }
        }
    }
    #[test]
    fn vectors_equal_scalars_for_all_heights() {
        if !available() {
            eprintln!("no AVX2 here: nothing to compare");
            return;
        }
        let (mut taps, mut sums) = (PillowTaps::default(), Vec::new());
        for method in
            [Method::PillowBox, Method::PillowBilinear, Method::PillowBicubic, Method::PillowLanczos]
        {
            let sizes = [(1, 9), (2, 3), (9, 1), (30, 7), (31, 30), (500, 224), (700, 2)];
            for &(input, output) in if cfg!(miri) { &sizes[..4] } else { &sizes[..] } {
                let coordinates = Coordinates::HalfPixel;
                taps.fill(Axis { input, output, from: 0, len: output, flip: false, coordinates }, method);
                for len in [1, 31, 32, 33, 96, 100] {
                    let rows: Vec<Vec<u8>> = (0..input as usize)
                        .map(|y| (0..len).map(|x| ((x * 89 + y * 57) * (x + y) % 509 / 2) as u8).collect())
                        .collect();
                    for y in 0..output as usize {
                        let (first, weights) = taps.of(y);
                        let (mut plain, mut vector) = (vec![9; len], vec![7; len]);
                        rows_of(weights, |k| &rows[first + k], &mut sums, &mut plain);
                        let done = avx2::rows(weights, |k| &rows[first + k], &mut vector);
                        assert_eq!(done, len / 32 * 32);
                        assert_eq!(plain[..done], vector[..done], "{method:?} {input} to {output}, row {y}");
                    }
                }
            }
        }
    }
}
