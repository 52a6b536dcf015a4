//! Pictures: decoding by content, resizing, and the conversion to what a batch holds.
//!
//! [`ImageSpec`] says what shall become of a picture; [`ImageWorker`] does it. [`decode`] is the first step alone.

mod array;
mod augment;
mod codecs;
mod decode;
mod fit;
mod format;
pub mod jpeg;
mod json;
mod resize;
pub mod sheet;
mod spec;
mod target;
mod worker;

pub use array::resize;
pub use augment::{Augment, AugmentKey, RandomResizedCrop};
pub use decode::{DecodeOptions, Image, decode};
pub use fit::Applied;
pub use format::Format;
pub use spec::{Coordinates, Damage, Dct, Fit, ImageSpec, Layout, Limits, Method, PixelType, Scale};
pub use target::PixelsMut;
pub use worker::{ImageWorker, PixelsVec};
