//! Handwritten digits in TFRecords, and their batches as candle's tensors.

use candle_core::{Device, Tensor};
use tfrmap::image::{ImageSpec, Layout};
use tfrmap::{Batch, Dataset, Features};

use crate::Result;

/// The data set of a file, folder or pattern: grey pictures `[1, 8, 8]` in 0..=1 and their labels.
pub fn open(path: &str) -> Result<Dataset> {
    // region: open
    let features = Features::new()
        .image("image/encoded", ImageSpec::gray(8, 8).layout(Layout::Nchw))
        .fixed_len::<i64>("image/class/label", []);
    let dataset = Dataset::open(path)?.with_features(features);
    // endregion
    Ok(dataset)
}

// region: tensors
/// Pictures `[rows, 1, 8, 8]` and labels `[rows]`: the memory moves into candle, no value is copied.
pub fn tensors(mut batch: Batch) -> Result<(Tensor, Tensor)> {
    let images = batch.take::<f32>("image/encoded")?;
    let labels = batch.take::<i64>("image/class/label")?;
    let images = Tensor::from_vec(images.values.into_vec(), images.shape, &Device::Cpu)?;
    let labels = Tensor::from_vec(labels.values.into_vec(), labels.shape, &Device::Cpu)?;
    Ok((images, labels))
}
// endregion
