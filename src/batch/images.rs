//! The pictures of a batch.

use crate::batch::column::Dense;
use crate::batch::values::Values;
use crate::image::ImageSpec;

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
}
