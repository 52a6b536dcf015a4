//! Upsampling of components with fewer samples than the picture, one output row at a time.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use super::Error;
use super::frame::{Component, Frame};

/// How a component is brought to the size of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// It has the size already.
    Full,
    /// Twice as wide: linear interpolation (libjpeg's "fancy" upsampling).
    FancyH2,
    /// Twice as high: linear interpolation.
    FancyV2,
    /// Twice as wide and high: bilinear interpolation.
    FancyH2V2,
    /// Samples repeated so many times across and down.
    Repeat(usize, usize),
}

impl Method {
    /// The method that libjpeg-turbo takes with fancy upsampling on. Errors where the factors of the component do
    /// not divide those of the frame.
    pub(super) fn choose(frame: &Frame, component: &Component) -> Result<Method, Error> {
        let (h, v) = (frame.max_h / component.h, frame.max_v / component.v);
        if !frame.max_h.is_multiple_of(component.h) || !frame.max_v.is_multiple_of(component.v) {
            return Err(Error::unsupported("sampling factors that do not divide", frame.offset));
        }
        let wide = component.width > 2;
        Ok(match (h, v) {
            (1, 1) => Method::Full,
            (2, 1) if wide => Method::FancyH2,
            (1, 2) => Method::FancyV2,
            (2, 2) if wide => Method::FancyH2V2,
            _ => Method::Repeat(h, v),
        })
    }

    /// Output samples to an input sample, across and down.
    pub(super) fn factors(self) -> (usize, usize) {
        match self {
            Method::Full => (1, 1),
            Method::FancyH2 => (2, 1),
            Method::FancyV2 => (1, 2),
            Method::FancyH2V2 => (2, 2),
            Method::Repeat(h, v) => (h, v),
        }
    }

    /// True where an output row depends on the input row above or below its own.
    pub(super) fn needs_context(self) -> bool {
        matches!(self, Method::FancyV2 | Method::FancyH2V2)
    }
}

/// The kernels for this machine. Inputs of the fancy ones have one sample more on either side than is upsampled.
pub(super) struct Kernels {
    /// Each input sample gives two: a quarter of the neighbour to the left, then to the right.
    pub h2: fn(input: &[u8], out: &mut [u8]),
    /// `near` is the input row of the output row, `far` the row next to it; the bias is 1 above, 2 below.
    pub v2: fn(near: &[u8], far: &[u8], bias: u8, out: &mut [u8]),
    /// Both at once.
    pub h2v2: fn(near: &[u8], far: &[u8], out: &mut [u8]),
    /// Each sample `h` times.
    pub repeat: fn(input: &[u8], h: usize, out: &mut [u8]),
}

impl Kernels {
    pub(super) fn new() -> Kernels {
        #[cfg(target_arch = "x86_64")]
        if super::vectors::avx2() {
            return Kernels { h2: avx2::h2, v2: avx2::v2, h2v2: avx2::h2v2, repeat: scalar::repeat };
        }
        Kernels { h2: scalar::h2, v2: scalar::v2, h2v2: scalar::h2v2, repeat: scalar::repeat }
    }
}
