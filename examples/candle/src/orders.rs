//! The orders that the experiment compares.

use tfrmap::{Dataset, Result};

use crate::net::Random;

/// How an epoch is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// As the file is.
    File,
    /// By a shuffle buffer of this many records.
    Buffer(usize),
    /// By tfrmap's permutation of the whole set.
    Global,
}

impl Ordering {
    /// The data set in the order of one epoch.
    pub fn apply(self, dataset: &Dataset, seed: u64, epoch: u64) -> Result<Dataset> {
        let dataset = dataset.clone();
        match self {
            Ordering::File => Ok(dataset),
            Ordering::Buffer(size) => {
                let random = Random(seed ^ (epoch << 32));
                let order = buffered(dataset.len(), size, random);
                dataset.select(order)
            }
            Ordering::Global => Ok(dataset.shuffled(seed).epoch(epoch)),
        }
    }
}

/// What comes out of a shuffle buffer, as `tf.train.shuffle_batch` and `tf.data`'s `shuffle` have it: it is filled in the order
/// of the file, and each record drawn from it makes room for the next.
pub fn buffered(records: u64, size: usize, mut random: Random) -> Vec<u64> {
    let mut waiting = Vec::with_capacity(size);
    let mut order = Vec::with_capacity(records as usize);
    for record in 0..records {
        waiting.push(record);
        if waiting.len() == size {
            order.push(waiting.swap_remove(random.below(size)));
        }
    }
    while !waiting.is_empty() {
        let at = random.below(waiting.len());
        order.push(waiting.swap_remove(at));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fear: the experiment's buffer is none, and the comparison is unfair.
    #[test]
    fn a_buffer_lets_each_record_out_once_and_none_before_it_was_in() {
        for size in [1, 2, 30, 100, 1000] {
            let order = buffered(300, size, Random(5));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..300).collect::<Vec<u64>>());
            for (position, &record) in order.iter().enumerate() {
                assert!(
                    (record as usize) < position + size,
                    "record {record} at {position} of a buffer of {size}"
                );
            }
            assert_eq!(size == 1, order == sorted);
        }
    }
}
