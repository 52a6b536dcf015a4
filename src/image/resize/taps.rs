//! Which source positions make an output position, and with which weights: TensorFlow's tables for all methods but
//! plain bilinear.

use crate::image::resize::axis::Axis;
use crate::image::resize::kernel::Kernel;
use crate::image::spec::{Coordinates, Method};

/// For each output position a list of source positions and weights.
#[derive(Default)]
pub(crate) struct Taps {
    /// Where each output's list begins, and the end of the last.
    offsets: Vec<u32>,
    index: Vec<u32>,
    weight: Vec<f32>,
}

impl Taps {
    /// Fills the table.
    pub fn fill(&mut self, axis: Axis, method: Method, antialias: bool) {
        self.offsets.clear();
        self.index.clear();
        self.weight.clear();
        self.offsets.push(0);
        match (Kernel::of(method, antialias), method) {
            (Some(kernel), _) => self.fill_spans(axis, kernel, antialias),
            (None, Method::Area) => self.fill_area(axis),
            (None, Method::Bicubic) => self.fill_cubic(axis),
            (None, _) => self.fill_nearest(axis),
        }
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Source positions and weights of one output.
    pub fn of(&self, output: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[output] as usize..self.offsets[output + 1] as usize;
        (&self.index[range.clone()], &self.weight[range])
    }

    fn tap(&mut self, index: u32, weight: f32) {
        self.index.push(index);
        self.weight.push(weight);
    }

    fn end(&mut self) {
        self.offsets.push(self.index.len() as u32);
    }

    /// TensorFlow's `ResizeNearestNeighbor`.
    fn fill_nearest(&mut self, axis: Axis) {
        let scale = axis.scale();
        for position in axis.positions() {
            let x = position as f32;
            let source = match axis.coordinates {
                Coordinates::HalfPixel => ((x + 0.5) * scale).floor(),
                Coordinates::Asymmetric => (x * scale).floor(),
                Coordinates::AlignCorners => (x * scale).round(),
            };
            self.tap((source as u32).min(axis.input - 1), 1.0);
            self.end();
        }
    }

    /// TensorFlow's `ResizeArea`: the share of each source pixel in an output pixel's area; both coordinate systems
    /// without a half pixel are the same to it.
    fn fill_area(&mut self, axis: Axis) {
        let scale = axis.scale();
        for position in axis.positions() {
            let (start, end) = (position as f32 * scale, (position + 1) as f32 * scale);
            let (first, last) = (start.floor() as i64, end.ceil() as i64);
            for k in first..last {
                let (here, next) = (k as f32, (k + 1) as f32);
                // Only the first and the last pixel can be covered in part.
                let weight = if here < start {
                    if next > end { scale } else { next - start }
                } else if next > end {
                    end - here
                } else {
                    1.0
                };
                self.tap(k.clamp(0, i64::from(axis.input) - 1) as u32, weight);
            }
            self.end();
        }
    }

    /// TensorFlow's `ResizeBicubic`: weights from a table of 1024 steps; with half-pixel coordinates a = -0.5 and taps
    /// outside the picture are left out, else a = -0.75 and the edge pixel stands in for them.
    fn fill_cubic(&mut self, axis: Axis) {
        let keys = axis.coordinates == Coordinates::HalfPixel;
        let a = if keys { -0.5 } else { -0.75 };
        for position in axis.positions() {
            let source = axis.source(position);
            let floor = source.floor();
            let offset = ((source - floor) * 1024.0).round_ties_even() as u32;
            let (near, far) = (cubic_near(offset, a), cubic_far(offset, a));
            let (near2, far2) = (cubic_near(1024 - offset, a), cubic_far(1024 - offset, a));
            let mut weights = [far, near, near2, far2];
            let at = |k: i64| floor as i64 - 1 + k;
            let bound = |k: i64| at(k).clamp(0, i64::from(axis.input) - 1);
            if keys {
                for (k, weight) in (0..).zip(&mut weights) {
                    if bound(k) != at(k) {
                        *weight = 0.0;
                    }
                }
                let sum = weights[0] + weights[1] + weights[2] + weights[3];
                if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
                    let inverse = 1.0 / sum;
                    weights.iter_mut().for_each(|weight| *weight *= inverse);
                }
            }
            for (k, weight) in (0..).zip(weights) {
                self.tap(bound(k) as u32, weight);
            }
            self.end();
        }
    }

    /// TensorFlow's `ScaleAndTranslate`: a kernel, widened by the reduction where antialiased.
    fn fill_spans(&mut self, axis: Axis, kernel: Kernel, antialias: bool) {
        // The op takes the scale output / input in f32 and inverts it.
        let scale = axis.output as f32 / axis.input as f32;
        let inverse = (1.0 / f64::from(scale)) as f32;
        let kernel_scale = if antialias { inverse.max(1.0) } else { 1.0 };
        let radius = kernel.radius() * kernel_scale;
        let per_kernel = 1.0 / kernel_scale;
        let input = i64::from(axis.input);
        let span = (2 * radius.ceil() as i64 + 1).min(input);
        for position in axis.positions() {
            let sample = (position as f32 + 0.5) * inverse;
            let first = self.weight.len();
            if sample < 0.0 || sample > axis.input as f32 {
                // Outside: zeros from position 0 on.
                (0..span).for_each(|k| self.tap(k as u32, 0.0));
                self.end();
                continue;
            }
            let start = ((sample - radius - 0.5).ceil() as i64).clamp(0, input - 1);
            let end = ((sample + radius - 0.5).floor() as i64).clamp(0, input - 1) + 1;
            let mut sum = 0.0;
            for k in start..end {
                let weight = kernel.at((k as f32 + 0.5 - sample) * per_kernel);
                sum += weight;
                self.tap(k as u32, weight);
            }
            if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
                let inverse = 1.0 / sum;
                self.weight[first..].iter_mut().for_each(|weight| *weight *= inverse);
            } else {
                self.weight[first..].fill(0.0);
            }
            // The op reads the whole span, with weights of zero at its end; it shows where values are not finite.
            for k in end..(start + span).min(input) {
                self.tap(k as u32, 0.0);
            }
            self.end();
        }
    }
}

fn cubic_near(offset: u32, a: f64) -> f32 {
    let x = f64::from(offset as f32 / 1024.0);
    (((a + 2.0) * x - (a + 3.0)) * x * x + 1.0) as f32
}

fn cubic_far(offset: u32, a: f64) -> f32 {
    let x = f64::from(offset as f32 / 1024.0) + 1.0;
    (((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a) as f32
}
