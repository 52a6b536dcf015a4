//! One direction of a resize: which output positions are made, and where they lie in the input.

use crate::image::spec::Coordinates;

/// One direction of a resize. Of `output` positions only `from..from + len` are made, last first if `flip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub input: u32,
    pub output: u32,
    pub from: u32,
    pub len: u32,
    pub flip: bool,
    pub coordinates: Coordinates,
}

impl Axis {
    /// The positions in the order in which they are wanted.
    pub fn positions(self) -> impl Iterator<Item = u32> {
        (0..self.len).map(move |i| self.from + if self.flip { self.len - 1 - i } else { i })
    }

    /// Input length over output length in f32, as TensorFlow's `CalculateResizeScale`. Corners cannot be aligned
    /// where either length is 1.
    pub fn scale(self) -> f32 {
        if self.coordinates == Coordinates::AlignCorners && self.output > 1 && self.input > 1 {
            (self.input - 1) as f32 / (self.output - 1) as f32
        } else {
            self.input as f32 / self.output as f32
        }
    }

    /// The input coordinate of an output position, where pixel k's centre is at k.
    pub fn source(self, position: u32) -> f32 {
        let x = position as f32;
        match self.coordinates {
            Coordinates::HalfPixel => (x + 0.5) * self.scale() - 0.5,
            Coordinates::Asymmetric | Coordinates::AlignCorners => x * self.scale(),
        }
    }
}
