//! From planes to rows of pixels: upsampling and colour conversion of one row at a time.

use super::frame::{Component, Frame};
use super::markers::Reader;
use super::plane::Plane;
use super::upsample::Method;
use super::{ColorSpace, Crop, Error, Output, color, upsample};

/// How the samples of a picture become pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    /// The first component as it is.
    Gray,
    GrayToRgb,
    YccToRgb,
    RgbToRgb,
    RgbToGray,
    /// The flag says whether the inks are inverted.
    CmykToRgb(bool),
    YcckToRgb(bool),
}

/// What to make of a picture: the window, the components it takes and their upsampling.
pub(super) struct Plan {
    conversion: Conversion,
    methods: [Method; 4],
    /// The components that the output depends on.
    pub components: usize,
    /// Their columns that the window covers, and the one behind the last.
    columns: [(usize, usize); 4],
    /// The window: first column and row, and those behind the last.
    pub x0: usize,
    pub y0: usize,
    pub x1: usize,
    pub y1: usize,
    max_v: usize,
    mcu_height: usize,
    mcu_rows: usize,
    context: bool,
}

impl Plan {
    /// Checks that the output can be made.
    pub(super) fn new(
        reader: &Reader<'_>,
        frame: &Frame,
        space: ColorSpace,
        output: Output,
        crop: Option<Crop>,
    ) -> Result<Plan, Error> {
        let adobe = reader.is_adobe();
        let conversion = match (space, output) {
            (ColorSpace::Gray, Output::Native | Output::Gray) => Conversion::Gray,
            (ColorSpace::Gray, Output::Rgb) => Conversion::GrayToRgb,
            (ColorSpace::YCbCr, Output::Gray) => Conversion::Gray,
            (ColorSpace::YCbCr, _) => Conversion::YccToRgb,
            (ColorSpace::Rgb, Output::Gray) => Conversion::RgbToGray,
            (ColorSpace::Rgb, _) => Conversion::RgbToRgb,
            (ColorSpace::Cmyk | ColorSpace::Ycck, Output::Gray) => {
                return Err(Error::unsupported("gray asked of four inks (CMYK)", frame.offset));
            }
            (ColorSpace::Cmyk, _) => Conversion::CmykToRgb(adobe),
            (ColorSpace::Ycck, _) => Conversion::YcckToRgb(adobe),
        };
        let components = if conversion == Conversion::Gray { 1 } else { frame.components().len() };
        let mut methods = [Method::Full; 4];
        for (method, component) in methods.iter_mut().zip(&frame.components()[..components]) {
            *method = Method::choose(frame, component)?;
        }
        let window =
            crop.unwrap_or(Crop { x: 0, y: 0, width: frame.width as u32, height: frame.height as u32 });
        let (x0, y0) = (window.x as usize, window.y as usize);
        let (x1, y1) = (x0 + window.width as usize, y0 + window.height as usize);
        if x0 >= x1 || y0 >= y1 || x1 > frame.width || y1 > frame.height {
            return Err(Error::Options { reason: "the crop window is empty or reaches beyond the picture" });
        }
        let columns = std::array::from_fn(|i| {
            let ((h, _), width) = (methods[i].factors(), frame.components().get(i).map_or(0, |c| c.width));
            (x0 / h, x1.div_ceil(h).min(width))
        });
        Ok(Plan {
            conversion,
            methods,
            components,
            columns,
            x0,
            y0,
            x1,
            y1,
            max_v: frame.max_v,
            mcu_height: frame.max_v * super::frame::BLOCK,
            mcu_rows: frame.mcu_rows,
            context: methods.iter().any(|m| m.needs_context()),
        })
    }

    /// Bytes of a pixel of the output.
    pub(super) fn channels(&self) -> usize {
        if matches!(self.conversion, Conversion::Gray | Conversion::RgbToGray) { 1 } else { 3 }
    }

    /// Bytes of a row of the output.
    pub(super) fn row_bytes(&self) -> usize {
        (self.x1 - self.x0) * self.channels()
    }

    /// Sets up a component's plane for the columns that the window depends on.
    pub(super) fn lay_out(&self, index: usize, component: &Component, plane: &mut Plane) {
        let (first, end) = self.columns[index];
        plane.lay_out(component, first.saturating_sub(1), (end + 1).min(component.width));
    }

    /// The rows of MCUs that the window depends on.
    pub(super) fn mcu_rows(&self) -> std::ops::RangeInclusive<usize> {
        let context = if self.context { self.max_v } else { 0 };
        let first = self.y0.saturating_sub(context + self.y0 % self.max_v) / self.mcu_height;
        let last = self.y1.next_multiple_of(self.max_v) - 1 + context;
        first..=(last / self.mcu_height).min(self.mcu_rows - 1)
    }

    /// About how many blocks are passed over on the way to the window's end.
    pub(super) fn blocks_passed_over(&self, frame: &Frame) -> u64 {
        let all = |c: &Component| (c.h * c.v * frame.mcu_cols * (self.mcu_rows().end() + 1)) as u64;
        let share =
            (self.x1 - self.x0) as f32 / frame.width as f32 * ((self.y1 - self.y0) as f32 / self.y1 as f32);
        let needed = |c: &Component| (all(c) as f32 * share) as u64;
        let (taken, left) = frame.components().split_at(self.components);
        taken.iter().map(|c| all(c).saturating_sub(needed(c))).chain(left.iter().map(all)).sum()
    }

    /// The row behind the last one that can be made once a row of MCUs is there.
    pub(super) fn rows_after(&self, mcu_row: usize) -> usize {
        let end = (mcu_row + 1) * self.mcu_height;
        let ready = if self.context && mcu_row + 1 < self.mcu_rows { end - self.max_v } else { end };
        ready.clamp(self.y0, self.y1)
    }
}

/// Makes rows of pixels. Keeps scratch rows.
pub(super) struct Rows {
    scratch: [Vec<u8>; 4],
    upsample: upsample::Kernels,
    color: color::Kernels,
}

impl Rows {
    pub(super) fn new() -> Rows {
        Rows {
            scratch: [const { Vec::new() }; 4],
            upsample: upsample::Kernels::new(),
            color: color::Kernels::new(),
        }
    }

    /// Makes row `y` of the picture, the window's part of it.
    pub(super) fn make(&mut self, plan: &Plan, planes: &[Plane; 4], y: usize, out: &mut [u8]) {
        let Rows { scratch, upsample, color } = self;
        let mut rows: [&[u8]; 4] = [&[]; 4];
        for (index, (scratch, row)) in scratch.iter_mut().zip(&mut rows).enumerate().take(plan.components) {
            *row = component_row(plan, index, &planes[index], y, scratch, upsample);
        }
        let [a, b, c, d] = rows;
        match plan.conversion {
            Conversion::Gray => out.copy_from_slice(a),
            Conversion::GrayToRgb => (color.gray_to_rgb)(a, out),
            Conversion::YccToRgb => (color.ycc_to_rgb)(a, b, c, out),
            Conversion::RgbToRgb => (color.interleave)(a, b, c, out),
            Conversion::RgbToGray => color::rgb_to_gray(a, b, c, out),
            Conversion::CmykToRgb(adobe) => color::cmyk_to_rgb([a, b, c, d], adobe, out),
            Conversion::YcckToRgb(adobe) => color::ycck_to_rgb([a, b, c, d], adobe, out),
        }
    }
}

/// The window's part of a component's row at the size of the picture.
#[inline(always)]
fn component_row<'a>(
    plan: &Plan,
    index: usize,
    plane: &'a Plane,
    y: usize,
    scratch: &'a mut Vec<u8>,
    kernels: &upsample::Kernels,
) -> &'a [u8] {
    let (method, (first, end)) = (plan.methods[index], plan.columns[index]);
    let inner = |row: &'a [u8]| &row[1..row.len() - 1];
    if method == Method::Full {
        return inner(plane.samples(y as isize, first, end));
    }
    let (h, v) = method.factors();
    let at = (y / v) as isize;
    let near = plane.samples(at, first, end);
    let length = (end - first) * h;
    if scratch.len() < length {
        scratch.resize(length, 0);
    }
    let out = &mut scratch[..length];
    let below = !y.is_multiple_of(v);
    let far = |plane: &'a Plane| plane.samples(if below { at + 1 } else { at - 1 }, first, end);
    match method {
        Method::Full => {}
        Method::FancyH2 => (kernels.h2)(near, out),
        Method::FancyV2 => (kernels.v2)(inner(near), inner(far(plane)), if below { 2 } else { 1 }, out),
        Method::FancyH2V2 => (kernels.h2v2)(near, far(plane), out),
        Method::Repeat(..) => (kernels.repeat)(inner(near), h, out),
    }
    let skip = plan.x0 - first * h;
    &scratch[skip..skip + plan.x1 - plan.x0]
}
