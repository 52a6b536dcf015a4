//! tfrmap: memory-mapped, indexed, random-access reading of standard TFRecord files.

mod error;
pub mod image;
mod order;

pub use error::{Error, ErrorKind, FramePart, Result};
pub use order::{ORDER_VERSION, Order};
