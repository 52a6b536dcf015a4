//! Batches: pictures, tensors, resuming, the reference values.

use std::time::Instant;

use serde_json::{Map, Value};
use tfrmap::image::{Augment, ImageSpec, RandomResizedCrop};
use tfrmap::{Batches, Dataset, Features, State};

use crate::Failure;
use crate::check::ids_checksum;
use crate::engine::clock::{Clock, write_values};
use crate::engine::{Job, failed, line};

type Line = Result<Map<String, Value>, Failure>;

const IMAGE: &str = "image/encoded";
const LABEL: &str = "image/class/label";

/// The set with the columns that every engine reads: pictures and labels.
fn pictures(job: &Job) -> Result<Dataset, Failure> {
    let size = u32::try_from(job.integer("size")?).map_err(|e| Failure::new(e.to_string()))?;
    let mut spec = ImageSpec::rgb(size, size);
    if job.text("variant") == "augment" {
        spec = spec.augment(Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 });
    }
    let features = Features::new().image(IMAGE, spec).fixed_len::<i64>(LABEL, []);
    Ok(Dataset::open_all(job.files()).map_err(failed)?.with_features(features))
}

fn shuffled(job: &Job, dataset: Dataset) -> Result<Batches, Failure> {
    let dataset = dataset.shuffled(job.integer("seed")?).epochs(0..job.integer("epochs")?);
    Ok(dataset.batches(job.integer("batch")? as usize).threads(job.integer("threads")? as usize))
}

/// The picture job: shuffled, decoded, resized.
pub fn images(job: &Job) -> Line {
    let mut clock = Clock::new(job, "images")?;
    for batch in shuffled(job, pictures(job)?)? {
        let batch = batch.map_err(failed)?;
        let images = batch.images().map_err(failed)?;
        let values = images.as_f32().ok_or_else(|| Failure::new("the pictures are no floats"))?;
        clock.batch(values, batch.labels().map_err(failed)?);
        if clock.full() {
            break;
        }
    }
    finish(clock, job)
}

/// Small records: 32 floats and a label.
pub fn tensors(job: &Job) -> Line {
    let mut clock = Clock::new(job, "records")?;
    let features = Features::new().fixed_len::<f32>("x", [32]).fixed_len::<i64>("label", []);
    let dataset = Dataset::open_all(job.files()).map_err(failed)?.with_features(features);
    for batch in shuffled(job, dataset)? {
        let batch = batch.map_err(failed)?;
        let values = batch.column("x").and_then(|column| column.get::<f32>()).map_err(failed)?;
        clock.batch(values, batch.labels().map_err(failed)?);
    }
    finish(clock, job)
}

fn finish(clock: Clock, job: &Job) -> Line {
    let mut line = clock.done(job)?;
    line.insert("shuffle".into(), "whole set, new each epoch".into());
    Ok(line)
}

/// Half an epoch, the state as JSON, everything dropped, a new pipeline from the state, the rest.
pub fn resume(job: &Job) -> Line {
    let half = job.integer("records")? / 2;
    let mut ids: Vec<u64> = Vec::new();
    let mut batches = shuffled(job, pictures(job)?)?;
    while (ids.len() as u64) < half {
        let batch = batches.next().ok_or_else(|| Failure::new("the epoch ended early"))?.map_err(failed)?;
        ids.extend(batch.labels().map_err(failed)?.iter().map(|label| *label as u64));
    }
    let state = batches.state().to_json();
    drop(batches);

    let start = Instant::now();
    let state_read = State::from_json(&state).map_err(failed)?;
    let mut batches = shuffled(job, pictures(job)?)?.resume(&state_read).map_err(failed)?;
    let first = batches.next().ok_or_else(|| Failure::new("nothing came after resuming"))?;
    let seconds = start.elapsed().as_secs_f64();
    for batch in std::iter::once(first).chain(batches) {
        let batch = batch.map_err(failed)?;
        ids.extend(batch.labels().map_err(failed)?.iter().map(|label| *label as u64));
    }
    Ok(line!({
        "delivered": ids.len(),
        "checksum": ids_checksum(&ids),
        "resume_ms": seconds * 1e3,
        "state_bytes": state.len(),
    }))
}

/// The values of the sampled records by our own path, for machines without TensorFlow; prints who made them.
///
/// # Errors
/// Of the library.
pub fn reference(job: &Job) -> Result<String, Failure> {
    let dataset = pictures(job)?.select(job.sample()).map_err(failed)?;
    let mut values = Vec::new();
    for batch in dataset.batches(1) {
        let batch = batch.map_err(failed)?;
        values.extend_from_slice(batch.images().map_err(failed)?.as_f32().unwrap_or_default());
    }
    write_values(job, &values)?;
    Ok(format!("tfrmap {} itself (TensorFlow is not installed)", env!("CARGO_PKG_VERSION")))
}
