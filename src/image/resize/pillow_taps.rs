//! Pillow's weights in fixed point, and its filters.

use crate::image::resize::axis::Axis;
#[cfg(target_arch = "x86_64")]
use crate::image::resize::pillow_pairs::Pairs;
use crate::image::spec::Method;

/// Fraction bits of a weight: 32 less 8 for the value and 2 for headroom.
pub(super) const PRECISION: u32 = 32 - 8 - 2;

/// One half, with which sums begin.
pub(super) const HALF: i32 = 1 << (PRECISION - 1);

/// Weights that there is room for from the beginning: enough for 224 outputs of a picture 16 times as large. Tables of
/// random crops would else grow again and again.
const ROOM: usize = 32 * 224;

/// For each output position the first source position and the weights from there on.
#[derive(Default)]
pub(crate) struct PillowTaps {
    first: Vec<u32>,
    offsets: Vec<u32>,
    weight: Vec<i32>,
    exact: Vec<f64>,
    /// The same for the vector kernel: the weights in pairs, as many for every output.
    #[cfg(target_arch = "x86_64")]
    pub pairs: Pairs,
}

impl PillowTaps {
    /// Fills the table as Pillow's `precompute_coeffs` and `normalize_coeffs_8bpc` do.
    pub fn fill(&mut self, axis: Axis, method: Method) {
        let (filter, support) = filter(method);
        self.first.clear();
        self.offsets.clear();
        self.weight.clear();
        self.weight.reserve(ROOM);
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
        #[cfg(target_arch = "x86_64")]
        {
            let weights = (0..self.first.len()).map(|output| {
                let range = self.offsets[output] as usize..self.offsets[output + 1] as usize;
                (self.first[output] as usize, &self.weight[range])
            });
            self.pairs.fill(axis.input as usize, ROOM, weights);
        }
    }

    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// The first source position that is used, and the end.
    pub fn reach(&self) -> (usize, usize) {
        let first = self.first.iter().copied().min().unwrap_or(0) as usize;
        let ends = (0..self.len()).map(|output| self.of(output).0 + self.of(output).1.len());
        (first, ends.max().unwrap_or(first))
    }

    /// First source position and weights of one output.
    pub fn of(&self, output: usize) -> (usize, &[i32]) {
        let range = self.offsets[output] as usize..self.offsets[output + 1] as usize;
        (self.first[output] as usize, &self.weight[range])
    }
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
