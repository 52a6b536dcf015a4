//! Handwritten digits in TFRecords, and their batches as burn's tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};
use tfrmap::image::{ImageSpec, Layout};
use tfrmap::{Batch, Dataset, Features};

use crate::Result;

/// The data set of a file, folder or pattern: grey pictures `[1, 8, 8]` in 0..=1 and their labels.
pub fn open(path: &str) -> Result<Dataset> {
    let features = Features::new()
        .image("image/encoded", ImageSpec::gray(8, 8).layout(Layout::Nchw))
        .fixed_len::<i64>("image/class/label", []);
    Ok(Dataset::open(path)?.with_features(features))
}

// region: tensors
/// Pictures `[rows, 1, 8, 8]` and labels `[rows]`: the memory moves into burn, no value is copied on the CPU.
pub fn tensors(mut batch: Batch, device: &Device) -> Result<(Tensor<4>, Tensor<1, Int>)> {
    let images = batch.take::<f32>("image/encoded")?;
    let labels = batch.take::<i64>("image/class/label")?;
    let images = TensorData::new(images.values.into_vec(), images.shape);
    let labels = TensorData::new(labels.values.into_vec(), labels.shape);
    Ok((Tensor::from_data(images, device), Tensor::from_data(labels, device)))
}
// endregion
