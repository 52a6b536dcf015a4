//! The pictures of a batch.

use crate::batch::column::Dense;
use crate::batch::values::Values;
use crate::error::{Error, Result};
use crate::image::{Image, ImageSpec, Layout, Scale};

/// The pictures of a batch: one row of pixels behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Images<'a> {
    dense: &'a Dense,
    spec: &'a ImageSpec,
}

impl<'a> Images<'a> {
    pub(crate) fn new(dense: &'a Dense, spec: &'a ImageSpec) -> Images<'a> {
        Images { dense, spec }
    }

    /// Rows, height, width, channels; or rows, channels, height, width where the spec's layout says so.
    pub fn shape(&self) -> &'a [usize] {
        &self.dense.shape
    }

    /// How the pictures were made.
    pub fn spec(&self) -> &'a ImageSpec {
        self.spec
    }

    /// All pixels, where they are 32-bit floats (the default).
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        match &self.dense.values {
            Values::Float32(values) => Some(values),
            _ => None,
        }
    }

    /// All pixels, where the spec asks for 8-bit values.
    pub fn as_u8(&self) -> Option<&'a [u8]> {
        match &self.dense.values {
            Values::UInt8(values) => Some(values),
            _ => None,
        }
    }

    /// One picture as 8-bit red, green and blue, to be looked at: range and normalisation are undone, gray becomes three
    /// equal channels, alpha is left out.
    ///
    /// # Errors
    /// `InvalidArgument` where there is no such row.
    pub fn row_rgb8(&self, row: usize) -> Result<Image> {
        let &[rows, a, b, c] = self.shape() else {
            return Err(Error::invalid("the column holds no pictures"));
        };
        if row >= rows {
            return Err(Error::invalid(format!("there is no row {row}, the batch has {rows}")));
        }
        let (height, width, channels) = match self.spec.layout {
            Layout::Nhwc => (a, b, c),
            Layout::Nchw => (b, c, a),
        };
        let start = row * a * b * c;
        let value = |pixel: usize, channel: usize| {
            let at = match self.spec.layout {
                Layout::Nhwc => start + pixel * channels + channel,
                Layout::Nchw => start + channel * height * width + pixel,
            };
            match (self.as_u8(), self.as_f32()) {
                (Some(values), _) => values[at],
                (_, Some(values)) => self.to_byte(values[at], channel),
                _ => 0,
            }
        };
        let colour = |channel: usize| if channels < 3 { 0 } else { channel };
        let pixels = (0..height * width)
            .flat_map(|pixel| [0, 1, 2].map(|channel| value(pixel, colour(channel))))
            .collect();
        Ok(Image { height: height as u32, width: width as u32, channels: 3, pixels })
    }

    fn to_byte(self, value: f32, channel: usize) -> u8 {
        let of = |values: &Option<Vec<f32>>, neutral: f32| {
            values.as_ref().map_or(neutral, |values| values[channel])
        };
        let value = value * of(&self.spec.std, 1.0) + of(&self.spec.mean, 0.0);
        let scale = if self.spec.effective_scale() == Scale::Off { 1.0 } else { 255.0 };
        (value * scale).round().clamp(0.0, 255.0) as u8
    }
}
