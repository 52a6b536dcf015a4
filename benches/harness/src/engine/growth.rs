//! What grows with the number of records.

use std::iter;
use std::time::Instant;

use serde_json::{Map, Value};
use tfrmap::{Dataset, Features};

use crate::Failure;
use crate::engine::{Job, failed, line};

/// The set opened at sizes from a hundredth of it to a hundred times it: time to open, to the first batch of a shuffled
/// epoch, and from a position of that epoch to its record number.
pub fn growth(job: &Job) -> Result<Map<String, Value>, Failure> {
    let records = job.integer("records")?;
    let files = job.files();
    let (mut sizes, mut opens, mut firsts, mut positions) = (vec![], vec![], vec![], vec![]);
    for (part, times) in [(100, 1), (10, 1), (1, 1), (1, 10), (1, 100)] {
        let start = Instant::now();
        let paths = iter::repeat_n(&files, times).flatten();
        let features = Features::new().fixed_len::<i64>("label", []);
        let dataset = Dataset::open_all(paths).map_err(failed)?.with_features(features);
        let dataset = dataset.take(records * times as u64 / part);
        opens.push(start.elapsed().as_secs_f64() * 1e3);
        let size = dataset.len();
        let shuffled = dataset.shuffled(job.optional("seed").unwrap_or(1));
        let batch = shuffled.clone().batches(64).next().ok_or_else(|| Failure::new("no batch"))?;
        if batch.map_err(failed)?.len() as u64 != size.min(64) {
            return Err(Failure::new("a short first batch"));
        }
        firsts.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        const LOOKUPS: u64 = 100_000;
        for k in 0..LOOKUPS {
            shuffled.record_number(k * (size / LOOKUPS).max(1) % size).map_err(failed)?;
        }
        positions.push(start.elapsed().as_secs_f64() * 1e9 / LOOKUPS as f64);
        sizes.push(size as f64);
    }
    let largest = sizes.len() - 1;
    Ok(line!({
        "delivered": sizes.len(),
        "records": sizes[largest],
        "open_ms": opens[largest],
        "first_position_ms": firsts[largest],
        "ns_per_position": positions[largest],
        "records_by_size": sizes,
        "open_ms_by_size": opens,
        "first_batch_ms_by_size": firsts,
        "ns_per_position_by_size": positions,
    }))
}
