//! Batches and their columns.

pub(crate) mod assemble;
mod buffer;
mod column;
mod parse;
mod values;

pub use buffer::Buffer;
pub use column::{Column, Dense, Ragged, Tensor};
pub use values::{ByteStrings, Element, F16, Values};
