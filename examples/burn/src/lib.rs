//! Training on TFRecords with [burn](https://burn.dev): batches as tensors without a copy, an adapter for burn's own data loader, a
//! small convolutional network, evaluation, and resuming after a kill.

pub mod adapter;
pub mod data;
pub mod net;
pub mod train;

/// Whatever went wrong, in data, network or files.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
