//! A tfrmap data set as burn's `Dataset`, for burn's `DataLoader` and `Learner`.
//!
//! Use the loader with `num_workers(0)`: it then asks for a batch's records at once, and tfrmap decodes them in parallel. What the
//! loader does not know are resuming, ranks and bad records; `Dataset::batches` has them, without the two copies of each picture
//! that items and a batcher cost.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::{Device, Int, Tensor, TensorData};
use tfrmap::Batch;

/// A picture `[1, 8, 8]` and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The pixels, in 0..=1.
    pub pixels: Vec<f32>,
    /// The class.
    pub label: i64,
}

// region: adapter
/// burn's view of a tfrmap data set: item `i` is what is at position `i` of its order.
pub struct Items(pub tfrmap::Dataset);

impl Dataset<Item> for Items {
    fn get(&self, index: usize) -> Result<Item, DatasetError> {
        Ok(self.get_many(vec![index])?.remove(0))
    }

    fn get_many(&self, indexes: Vec<usize>) -> Result<Vec<Item>, DatasetError> {
        assert!(indexes.iter().all(|&index| index < self.len()), "an index is not below {}", self.len());
        let size = indexes.len();
        let chosen = self.0.clone().select(indexes.into_iter().map(|index| index as u64));
        match chosen.map_err(DatasetError::new)?.batches(size.max(1)).next() {
            Some(batch) => items(&batch.map_err(DatasetError::new)?).map_err(DatasetError::new),
            None => Ok(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        self.0.len() as usize
    }
}
// endregion

fn items(batch: &Batch) -> tfrmap::Result<Vec<Item>> {
    let pixels = batch.column("image/encoded")?.get::<f32>()?;
    let labels = batch.labels()?;
    let rows = pixels.chunks_exact(pixels.len() / labels.len());
    Ok(rows.zip(labels).map(|(pixels, &label)| Item { pixels: pixels.to_vec(), label }).collect())
}

/// Stacks items as burn's loader wants it.
#[derive(Clone)]
pub struct Stack;

impl Batcher<Item, (Tensor<4>, Tensor<1, Int>)> for Stack {
    fn batch(&self, items: Vec<Item>, device: &Device) -> (Tensor<4>, Tensor<1, Int>) {
        let rows = items.len();
        let labels: Vec<i64> = items.iter().map(|item| item.label).collect();
        let pixels: Vec<f32> = items.into_iter().flat_map(|item| item.pixels).collect();
        let images = TensorData::new(pixels, [rows, 1, 8, 8]);
        (Tensor::from_data(images, device), Tensor::from_data(TensorData::new(labels, [rows]), device))
    }
}
