//! tfrmap: memory-mapped, indexed, random-access reading of standard TFRecord files.

mod error;
pub mod image;

pub use error::{Error, ErrorKind, FramePart, Result};
