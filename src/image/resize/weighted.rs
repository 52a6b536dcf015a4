//! The two passes of a weighted resize, in the reference's order of operations.

use crate::image::resize::taps::Taps;
use crate::image::resize::view::{Sample, View};
use crate::image::rows;
use crate::image::target::Target;

/// Rows first, then columns: nearest, bicubic and all kernels.
pub(crate) fn rows_then_columns<S: Sample>(
    view: View<'_, S>,
    vertical: &Taps,
    horizontal: &Taps,
    sums: &mut Vec<f32>,
    target: &mut Target<'_>,
) {
    sums.resize(view.width as usize * view.channels, 0.0);
    for y in 0..vertical.len() {
        sums.fill(0.0);
        let (rows, weights) = vertical.of(y);
        for (row, weight) in rows.iter().zip(weights) {
            S::add(sums, view.row(*row), view.scale, *weight);
        }
        target.row(y as u32, |out| columns(sums, horizontal, view.channels, out));
    }
}

/// Columns first, then rows, then the division by the area.
pub(crate) fn area<S: Sample>(
    view: View<'_, S>,
    vertical: &Taps,
    horizontal: &Taps,
    cell: f32,
    scratch: &mut [Vec<f32>; 2],
    target: &mut Target<'_>,
) {
    let [values, sums] = scratch;
    let len = horizontal.len() * view.channels;
    values.resize(view.width as usize * view.channels, 0.0);
    sums.resize(len, 0.0);
    let scale = (1.0 / f64::from(cell)) as f32;
    for y in 0..vertical.len() {
        target.row(y as u32, |out| {
            out.fill(0.0);
            let (sources, weights) = vertical.of(y);
            for (row, weight) in sources.iter().zip(weights) {
                for (out, value) in values.iter_mut().zip(view.row(*row)) {
                    *out = value.value(view.scale);
                }
                columns(values, horizontal, view.channels, sums);
                rows::add_floats(out, sums, *weight);
            }
            rows::multiply(out, scale);
        });
    }
}

/// One row of weighted columns.
fn columns(row: &[f32], taps: &Taps, channels: usize, out: &mut [f32]) {
    match channels {
        1 => columns_of::<1>(row, taps, out),
        3 => columns_of::<3>(row, taps, out),
        4 => columns_of::<4>(row, taps, out),
        _ => (0..channels).for_each(|c| {
            for x in 0..taps.len() {
                let (index, weights) = taps.of(x);
                let products = index.iter().zip(weights).map(|(k, w)| w * row[*k as usize * channels + c]);
                out[x * channels + c] = products.fold(0.0, |sum, product| sum + product);
            }
        }),
    }
}

fn columns_of<const C: usize>(row: &[f32], taps: &Taps, out: &mut [f32]) {
    let (row, _) = row.as_chunks::<C>();
    let (out, _) = out.as_chunks_mut::<C>();
    for (x, out) in out.iter_mut().enumerate() {
        let (index, weights) = taps.of(x);
        let mut sum = [0.0; C];
        for (k, weight) in index.iter().zip(weights) {
            let pixel = &row[*k as usize];
            for c in 0..C {
                sum[c] += weight * pixel[c];
            }
        }
        *out = sum;
    }
}
