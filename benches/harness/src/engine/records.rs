//! The layers below batches: building an index, opening, single records, scanning.

use std::fs;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use serde_json::{Map, Value};
use tfrmap::{IndexBuilder, OpenOptions, Store, Verify};

use crate::Failure;
use crate::check::crc32;
use crate::engine::{Job, failed, line};

type Line = Result<Map<String, Value>, Failure>;

/// Builds and saves the sidecars of all files, from nothing.
pub fn index(job: &Job) -> Line {
    let folder = Path::new(job.text("work")).join("index");
    fs::create_dir_all(&folder).map_err(|e| Failure::io(&folder, &e))?;
    let builder = IndexBuilder::new()
        .index_dir(&folder)
        .force(true)
        .check(job.text("variant") == "checked")
        .jobs(job.integer("threads")? as usize);
    let files = job.files();
    let start = Instant::now();
    let reports = builder.build(&files, |_| {});
    let seconds = start.elapsed().as_secs_f64();
    if let Some(error) = reports.iter().find_map(|report| report.error.as_ref()) {
        return Err(Failure::new(error.to_string()));
    }
    let records: u64 = reports.iter().map(|report| report.records).sum();
    let sizes = fs::read_dir(&folder).map_err(|e| Failure::io(&folder, &e))?;
    let bytes: u64 = sizes.flatten().filter_map(|entry| entry.metadata().ok()).map(|m| m.len()).sum();
    Ok(line!({
        "delivered": records,
        "build_ms": seconds * 1e3,
        "us_per_record": seconds * 1e6 / records as f64,
        "index_bytes": bytes,
    }))
}

/// Sidecars in their usual place, as the first opening of the set would leave them.
pub fn prepare(job: &Job) -> Line {
    let reports = IndexBuilder::new().build(&job.files(), |_| {});
    match reports.iter().find_map(|report| report.error.as_ref()) {
        Some(error) => Err(Failure::new(error.to_string())),
        None => Ok(line!({"prepared": "sidecar"})),
    }
}

/// All files opened, with the number of the first record of each.
struct Set {
    stores: Vec<Store>,
    starts: Vec<u64>,
    records: u64,
}

impl Set {
    fn open(job: &Job) -> Result<Set, Failure> {
        let options = match job.text("variant") {
            "unchecked" => OpenOptions::new().verify(Verify::Off),
            _ => OpenOptions::new(),
        };
        let stores: Result<Vec<Store>, _> =
            job.files().iter().map(|file| Store::open_with(&options, file)).collect();
        let stores = stores.map_err(failed)?;
        let mut starts = Vec::with_capacity(stores.len());
        let mut records = 0;
        for store in &stores {
            starts.push(records);
            records += store.len();
        }
        Ok(Set { stores, starts, records })
    }

    fn get(&self, number: u64) -> Result<tfrmap::Record, Failure> {
        let store = self.starts.partition_point(|start| *start <= number) - 1;
        self.stores[store].get(number - self.starts[store]).map_err(failed)
    }

    /// The checksum of the sampled payloads.
    fn sample(&self, job: &Job) -> Result<String, Failure> {
        let mut crc = 0;
        for number in job.sample() {
            crc = crc32(crc, &self.get(number)?);
        }
        Ok(format!("{crc:08x}"))
    }
}

/// Opens an indexed set and reads its last record.
pub fn open(job: &Job) -> Line {
    let start = Instant::now();
    let set = Set::open(job)?;
    let opened = Instant::now();
    set.get(set.records - 1)?;
    let first = opened.elapsed();
    Ok(line!({
        "delivered": set.records,
        "checksum": set.sample(job)?,
        "open_ms": (opened - start).as_secs_f64() * 1e3,
        "first_position_ms": first.as_secs_f64() * 1e3,
    }))
}

/// Single records by number, in a fixed scattered order, one thread.
pub fn random_get(job: &Job) -> Line {
    let set = Set::open(job)?;
    let stride = job.integer("stride")?;
    set.get(0)?;
    let start = Instant::now();
    let mut bytes = 0;
    for k in 0..set.records {
        bytes += set.get(k * stride % set.records)?.len() as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(line!({
        "delivered": set.records,
        "bytes": bytes,
        "checksum": set.sample(job)?,
        "us_per_record": seconds * 1e6 / set.records as f64,
        "records_per_s": set.records as f64 / seconds,
    }))
}

/// Every record once, both CRCs checked, files in parallel.
pub fn scan(job: &Job) -> Line {
    let set = Set::open(job)?;
    let threads = job.integer("threads")? as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Failure::new(e.to_string()))?;
    let start = Instant::now();
    let sizes: Result<Vec<u64>, tfrmap::Error> = pool.install(|| {
        let file =
            |store: &Store| (0..store.len()).try_fold(0, |sum, i| Ok(sum + store.get(i)?.len() as u64));
        set.stores.par_iter().map(file).collect()
    });
    let bytes: u64 = sizes.map_err(failed)?.iter().sum();
    let seconds = start.elapsed().as_secs_f64();
    Ok(line!({
        "delivered": set.records,
        "bytes": bytes,
        "records_per_s": set.records as f64 / seconds,
        "gb_per_s": bytes as f64 / seconds / 1e9,
    }))
}
