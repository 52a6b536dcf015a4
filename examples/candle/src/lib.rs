//! Training on TFRecords with [candle](https://github.com/huggingface/candle): from batches to tensors without a copy, a small
//! convolutional network, evaluation, resuming after a kill, and ranks.

pub mod chart;
pub mod checkpoint;
pub mod data;
pub mod net;
pub mod orders;
pub mod ranks;
pub mod train;

/// Whatever went wrong, in data, network, files or on the line.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
