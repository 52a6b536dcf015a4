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
mod pages;
mod parse;
mod policy;
mod pool;
mod read_ahead;
mod recycler;
mod slab;
mod state;
mod stats;
mod steps;
mod sweep;
mod values;

pub use batches::{Batches, Mapped};
pub use buffer::Buffer;
pub use column::{Column, Dense, Ragged, Tensor};
pub use contents::{Batch, Source};
pub use images::Images;
pub use policy::OnError;
pub use recycler::Reuse;
pub use state::State;
pub use stats::Stats;
pub use steps::Remainder;
pub use values::{ByteStrings, Element, F16, Values};
