//! Resizing with the references' exact arithmetic.

mod axis;
mod cache;
mod kernel;
mod pillow;
#[cfg(target_arch = "x86_64")]
mod pillow_avx2;
#[cfg(target_arch = "x86_64")]
mod pillow_pairs;
mod pillow_taps;
mod taps;
mod two_tap;
#[cfg(target_arch = "x86_64")]
mod two_tap_avx2;
mod view;
mod weighted;

pub(crate) use axis::Axis;
pub(crate) use view::{Sample, View};

use crate::image::fit::Geometry;
use crate::image::resize::cache::Cache;
use crate::image::resize::pillow_taps::PillowTaps;
use crate::image::resize::taps::Taps;
use crate::image::resize::two_tap::{Columns, Rows, TwoTap};
use crate::image::rows::blend;
#[cfg(target_arch = "x86_64")]
use crate::image::rows_avx2::available;
use crate::image::spec::{ImageSpec, Method};
use crate::image::target::Target;

/// Tables and scratch memory of resizes, reused from picture to picture.
#[derive(Default)]
pub(crate) struct Resizer {
    two_tap: Cache<(Axis, usize), Columns>,
    two_tap_vertical: Cache<Axis, TwoTap>,
    rows: Rows,
    taps: Cache<(Axis, Method, bool), Taps>,
    sums: [Vec<f32>; 2],
    pillow: Cache<(Axis, Method), PillowTaps>,
    scratch: pillow::Scratch,
}

impl Resizer {
    /// Resizes the view, which is the geometry's window, with one of TensorFlow's methods.
    pub fn run<S: Sample>(
        &mut self,
        view: View<'_, S>,
        geometry: &Geometry,
        spec: &ImageSpec,
        target: &mut Target<'_>,
    ) {
        let (vertical, horizontal) = (geometry.vertical, geometry.horizontal);
        if is_two_tap(spec) {
            let mut stream = self.stream(geometry, view.channels);
            for y in 0..view.height {
                if stream.wants(y) {
                    stream.push(y, view.row(y), view.scale, target);
                }
            }
            return;
        }
        let (method, antialias) = (spec.method, spec.antialias);
        let fill = |taps: &mut Taps, axis| taps.fill(axis, method, antialias);
        let [v, h] = self
            .taps
            .pair([(vertical, method, antialias), (horizontal, method, antialias)], |t, k| fill(t, k.0));
        if method == Method::Area {
            let cell = vertical.scale() * horizontal.scale();
            weighted::area(view, v, h, cell, &mut self.sums, target);
        } else {
            weighted::rows_then_columns(view, v, h, &mut self.sums[0], target);
        }
    }

    /// Begins a plain bilinear resize that is fed row by row.
    pub fn stream(&mut self, geometry: &Geometry, channels: usize) -> Stream<'_> {
        let columns = self.two_tap.get((geometry.horizontal, channels), |columns, key| columns.fill(*key));
        let vertical = self.two_tap_vertical.get(geometry.vertical, |taps, axis| taps.fill(*axis));
        self.rows.start(columns.lower.len() * channels);
        Stream { columns, vertical, rows: &mut self.rows }
    }

    /// Resizes the view with one of Pillow's methods.
    pub fn pillow(
        &mut self,
        view: View<'_, u8>,
        geometry: &Geometry,
        method: Method,
        target: &mut Target<'_>,
    ) {
        let keys = [(geometry.vertical, method), (geometry.horizontal, method)];
        let [vertical, horizontal] = self.pillow.pair(keys, |taps, key| taps.fill(key.0, key.1));
        let Geometry { vertical: v, horizontal: h, .. } = *geometry;
        let job = pillow::Job {
            vertical,
            horizontal,
            rows_first: pillow::rows_first(v, h),
            premultiply: view.channels == 4 && (v.input != v.output || h.input != h.output),
        };
        pillow::resize(view, &job, &mut self.scratch, target);
    }
}

/// True for plain bilinear, which can be fed row by row.
pub(crate) fn is_two_tap(spec: &ImageSpec) -> bool {
    spec.method == Method::Bilinear && !spec.antialias
}

/// A plain bilinear resize of one picture under way.
pub(crate) struct Stream<'a> {
    columns: &'a Columns,
    vertical: &'a TwoTap,
    rows: &'a mut Rows,
}

impl Stream<'_> {
    /// Whether source row `y` is needed, where all needed ones above it were pushed.
    pub fn wants(&self, y: u32) -> bool {
        self.rows.wants(y, self.vertical)
    }

    /// Takes source row `y`, if it is needed, in ascending order, and stores the output rows that it completes.
    pub fn push<S: Sample>(&mut self, y: u32, row: &[S], scale: f32, target: &mut Target<'_>) {
        let columns = |out: &mut [f32]| {
            #[cfg(target_arch = "x86_64")]
            if let (3, true, Some(row)) = (self.columns.channels, available(), S::bytes(row)) {
                return two_tap_avx2::columns_rgb(self.columns, row, scale, out);
            }
            self.columns.apply(row, scale, out);
        };
        self.rows.push(y, self.vertical, columns, |y, top, bottom, lerp| {
            target.row(y as u32, |out| blend(top, bottom, lerp, out));
        });
    }
}

/// Stores the view as it is, perhaps mirrored.
pub(crate) fn copy(view: View<'_, u8>, flip: bool, target: &mut Target<'_>) {
    let mut mirrored = Vec::new();
    for y in 0..view.height {
        let row = view.row(y);
        if flip {
            mirrored.clear();
            mirrored.extend(row.rchunks_exact(view.channels).flatten());
            target.row_u8(y, &mirrored);
        } else {
            target.row_u8(y, row);
        }
    }
}
