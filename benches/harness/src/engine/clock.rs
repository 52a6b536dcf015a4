//! Takes the batches of a run: times, record numbers, and the values of the sampled records.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::Failure;
use crate::check;
use crate::engine::Job;

/// The clock of one run.
pub struct Clock {
    unit: &'static str,
    records: usize,
    stop_after: usize,
    spawned_unix_ns: u64,
    sample: Vec<u64>,
    values: BTreeMap<u64, Vec<f32>>,
    ids: Vec<u64>,
    start: Instant,
    first: Option<First>,
    anonymous_mb: Vec<f64>,
}

/// The first batch.
struct First {
    at: Instant,
    records: usize,
    from_start_ms: f64,
}

impl Clock {
    /// Starts; `unit` is what rates count.
    ///
    /// # Errors
    /// When the job misses a field.
    pub fn new(job: &Job, unit: &'static str) -> Result<Clock, Failure> {
        let (records, epochs) = (job.integer("records")? as usize, job.integer("epochs")? as usize);
        Ok(Clock {
            unit,
            records,
            stop_after: job.optional("stop_after").map_or(usize::MAX, |n| n as usize),
            spawned_unix_ns: job.integer("spawned_unix_ns")?,
            sample: job.sample(),
            values: BTreeMap::new(),
            ids: Vec::with_capacity(records * epochs),
            start: Instant::now(),
            first: None,
            anonymous_mb: Vec::new(),
        })
    }

    /// A batch: its values, equally many a row, and its labels.
    pub fn batch(&mut self, values: &[f32], labels: &[i64]) {
        if self.first.is_none() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as f64;
            self.first = Some(First {
                at: Instant::now(),
                records: labels.len(),
                from_start_ms: (now - self.spawned_unix_ns as f64) / 1e6,
            });
        }
        let before = self.ids.len();
        let row_len = values.len() / labels.len().max(1);
        for (row, label) in labels.iter().enumerate() {
            let id = *label as u64;
            self.ids.push(id);
            if self.values.len() < self.sample.len() && self.sample.binary_search(&id).is_ok() {
                self.values.entry(id).or_insert_with(|| values[row * row_len..][..row_len].to_vec());
            }
        }
        if before / self.records != self.ids.len() / self.records {
            self.anonymous_mb.push(anonymous_mb());
        }
    }

    /// True when the job asks for no more.
    pub fn full(&self) -> bool {
        self.ids.len() >= self.stop_after
    }

    /// Writes what the harness checks and returns the figures.
    ///
    /// # Errors
    /// No batch came, or the files cannot be written.
    pub fn done(self, job: &Job) -> Result<Map<String, Value>, Failure> {
        let end = Instant::now();
        let first = self.first.ok_or_else(|| Failure::new("no batch came"))?;
        let values: Vec<f32> =
            self.sample.iter().filter_map(|id| self.values.get(id)).flatten().copied().collect();
        write_values(job, &values)?;
        let ids_out = job.text("ids_out");
        if !ids_out.is_empty() {
            let epoch = self.ids.iter().take(self.records);
            save(ids_out, &epoch.flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        let mut line = Map::new();
        let whole = (end - self.start).as_secs_f64();
        let steady = (end - first.at).as_secs_f64();
        line.insert("delivered".into(), json!(self.ids.len()));
        line.insert("checksum".into(), json!(check::ids_checksum(&self.ids)));
        line.insert("first_batch_ms".into(), json!((first.at - self.start).as_secs_f64() * 1e3));
        line.insert("first_batch_from_start_ms".into(), json!(first.from_start_ms));
        line.insert(format!("{}_per_s", self.unit), json!(self.ids.len() as f64 / whole));
        if self.ids.len() > first.records {
            let rate = (self.ids.len() - first.records) as f64 / steady;
            line.insert(format!("steady_{}_per_s", self.unit), json!(rate));
        }
        if let [early, .., late] = self.anonymous_mb[..] {
            let growth = (late - early) / (self.anonymous_mb.len() - 1) as f64;
            line.insert("growth_mb_per_epoch".into(), json!(growth));
            line.insert("anonymous_mb_after_epoch".into(), json!(self.anonymous_mb));
        }
        Ok(line)
    }
}

/// Writes values for the harness to compare.
///
/// # Errors
/// When the file cannot be written.
pub fn write_values(job: &Job, values: &[f32]) -> Result<(), Failure> {
    let out = job.text("values_out");
    if values.is_empty() || out.is_empty() {
        return Ok(());
    }
    save(out, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

fn save(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|e| Failure::io(Path::new(path), &e))
}

/// Memory of this process without a file behind it.
fn anonymous_mb() -> f64 {
    crate::run::proc::memory(&[std::process::id()]).anonymous
}
