//! Pictures: decoding by content, resizing, and the conversion to what a batch holds.
//!
//! [`ImageSpec`] says what shall become of a picture; [`ImageWorker`] does it. [`decode`] is the first step alone.

mod array;
mod augment;
mod channels;
mod codecs;
mod decode;
mod decode_options;
mod decode_png;
mod exif;
mod fit;
mod format;
mod guard;
pub mod jpeg;
mod json;
mod presets;
mod resize;
mod rows;
#[cfg(target_arch = "x86_64")]
mod rows_avx2;
mod rows_scalar;
mod save;
pub mod sheet;
mod spec;
mod target;
mod worker;

pub use array::resize;
pub use augment::{Augment, AugmentKey, RandomResizedCrop};
pub use decode::{Image, decode};
pub use decode_options::DecodeOptions;
pub use fit::Applied;
pub use format::Format;
pub use jpeg::{Damage, Dct};
pub use presets::{IMAGENET_MEAN, IMAGENET_STD};
pub use save::Pixels;
pub use spec::{Coordinates, Fit, ImageSpec, Layout, Limits, Method, PixelType, Scale};
pub use target::PixelsMut;
pub use worker::{ImageWorker, PixelsVec};
