//! Batches, their columns, and the pipeline that makes them.

pub(crate) mod assemble;
mod batches;
mod buffer;
mod closure;
mod column;
mod contents;
mod course;
mod engine;
mod example_job;
mod images;
mod job;
mod parse;
mod pixels;
mod policy;
mod pool;
mod read_ahead;
mod state;
mod stats;
mod steps;
mod values;

pub use batches::{Batches, Mapped};
pub use buffer::Buffer;
pub use column::{Column, Dense, Ragged, Tensor};
pub use contents::{Batch, Source};
pub use images::Images;
pub use pixels::Reuse;
pub use policy::OnError;
pub use state::State;
pub use stats::Stats;
pub use steps::Remainder;
pub use values::{ByteStrings, Element, F16, Values};
