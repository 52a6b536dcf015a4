//! Pillow's resampling of 8-bit pictures: a kernel in fixed point, columns first, then rows, each rounded to 8 bits.

use crate::image::resize::axis::Axis;
use crate::image::resize::view::View;
use crate::image::spec::Method;
use crate::image::target::Target;

/// Fraction bits of a weight: 32 less 8 for the value and 2 for headroom.
const PRECISION: u32 = 32 - 8 - 2;

/// For each output position the first source position and the weights from there on.
#[derive(Default)]
pub(crate) struct PillowTaps {
    first: Vec<u32>,
    offsets: Vec<u32>,
    weight: Vec<i32>,
    exact: Vec<f64>,
}

impl PillowTaps {
    /// Fills the table as Pillow's `precompute_coeffs` and `normalize_coeffs_8bpc` do.
    pub fn fill(&mut self, axis: Axis, method: Method) {
        let (filter, support) = filter(method);
        self.first.clear();
        self.offsets.clear();
        self.weight.clear();
        self.offsets.push(0);
        let scale = f64::from(axis.input) / f64::from(axis.output);
        let filter_scale = scale.max(1.0);
        let support = support * filter_scale;
        let per_filter = 1.0 / filter_scale;
        for position in axis.positions() {
            let center = (f64::from(position) + 0.5) * scale;
            let first = ((center - support + 0.5) as i64).max(0);
            let end = ((center + support + 0.5) as i64).min(i64::from(axis.input));
            self.exact.clear();
            let at = |k: i64| filter((k as f64 - center + 0.5) * per_filter);
            self.exact.extend((first..end).map(at));
            let sum = self.exact.iter().fold(0.0, |sum, w| sum + w);
            for weight in &self.exact {
                let weight = if sum != 0.0 { weight / sum } else { *weight };
                let fixed = weight * f64::from(1 << PRECISION);
                self.weight.push(if weight < 0.0 { fixed - 0.5 } else { fixed + 0.5 } as i32);
            }
            self.first.push(first as u32);
            self.offsets.push(self.weight.len() as u32);
        }
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    /// The first source position that is used, and the end.
    fn reach(&self) -> (usize, usize) {
        let first = self.first.iter().copied().min().unwrap_or(0) as usize;
        let ends = (0..self.len()).map(|output| self.of(output).0 + self.of(output).1.len());
        (first, ends.max().unwrap_or(first))
    }

    /// First source position and weights of one output.
    fn of(&self, output: usize) -> (usize, &[i32]) {
        let range = self.offsets[output] as usize..self.offsets[output + 1] as usize;
        (self.first[output] as usize, &self.weight[range])
    }
}

/// Memory reused from picture to picture.
#[derive(Default)]
pub(crate) struct Scratch {
    premultiplied: Vec<u8>,
    columns: Vec<u8>,
    sums: Vec<i32>,
    rows: [Vec<u8>; 2],
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
    let Scratch { premultiplied, columns, sums, rows: [row, wide] } = scratch;
    let mut view = view;
    if job.premultiply {
        premultiplied.clear();
        (0..view.height).for_each(|y| premultiply(view.row(y), premultiplied));
        view = View { data: premultiplied, stride: view.width as usize * view.channels, ..view };
    }
    let channels = view.channels;
    let len = horizontal.len() * channels;
    row.resize(len, 0);
    let (first_row, end_row) = vertical.reach();
    if !job.rows_first {
        // Only of the rows that are needed.
        columns.resize((end_row - first_row) * len, 0);
        for (y, out) in (first_row..end_row).zip(columns.chunks_exact_mut(len)) {
            self::columns(view.row(y as u32), horizontal, channels, out);
        }
    }
    for y in 0..vertical.len() {
        if job.rows_first {
            wide.resize(view.width as usize * channels, 0);
            blend(vertical.of(y), |k| view.row(k as u32), sums, wide);
            self::columns(wide, horizontal, channels, row);
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
    sums.clear();
    sums.resize(out.len(), HALF);
    for (k, weight) in (first..).zip(weights) {
        for (sum, value) in sums.iter_mut().zip(source(k)) {
            *sum += i32::from(*value) * weight;
        }
    }
    for (out, sum) in out.iter_mut().zip(sums.iter()) {
        *out = clip(*sum);
    }
}

/// Weighted sums along a row, rounded.
fn columns(row: &[u8], taps: &PillowTaps, channels: usize, out: &mut [u8]) {
    match channels {
        1 => columns_of::<1>(row, taps, out),
        3 => columns_of::<3>(row, taps, out),
        _ => columns_of::<4>(row, taps, out),
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

/// One half, with which sums begin.
const HALF: i32 = 1 << (PRECISION - 1);

/// A sum as 8 bits.
fn clip(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

type Filter = fn(f64) -> f64;

/// Pillow's filters and their support.
fn filter(method: Method) -> (Filter, f64) {
    match method {
        Method::PillowBox => (|x| if x > -0.5 && x <= 0.5 { 1.0 } else { 0.0 }, 0.5),
        Method::PillowBicubic => (bicubic, 2.0),
        Method::PillowLanczos => (lanczos, 3.0),
        _ => (|x| (1.0 - x.abs()).max(0.0), 1.0),
    }
}

fn bicubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

fn lanczos(x: f64) -> f64 {
    let sinc = |x: f64| {
        if x == 0.0 {
            return 1.0;
        }
        let x = x * std::f64::consts::PI;
        x.sin() / x
    };
    if (-3.0..3.0).contains(&x) { sinc(x) * sinc(x / 3.0) } else { 0.0 }
}
