//! The `tfrecord` crate as an engine: index, scan and random records. Gets its job as JSON, prints one JSON line.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};
use tfrecord::indexer::{RecordIndex, RecordIndexerConfig, load_paths};
use tfrecord::{BytesIter, RecordReaderConfig};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Fallible<()> {
    let job: Value = serde_json::from_str(&std::env::args().nth(1).ok_or("no job")?)?;
    let files = job["files"].as_array().ok_or("no files")?;
    let files: Vec<PathBuf> = files.iter().filter_map(|f| f.as_str()).map(PathBuf::from).collect();
    let mut line = match job["task"].as_str() {
        Some("index") => index(files)?,
        Some("scan") => scan(&files)?,
        Some("random-get") => random_get(files, &job)?,
        other => return Err(format!("no such task here: {other:?}").into()),
    };
    line["version"] = json!("tfrecord crate 0.15.0");
    println!("{line}");
    Ok(())
}

fn records(files: Vec<PathBuf>) -> Fallible<Vec<RecordIndex>> {
    let config = RecordIndexerConfig { check_integrity: true };
    Ok(load_paths(files, config).collect::<Result<_, _>>()?)
}

/// The crate keeps its index in memory only.
fn index(files: Vec<PathBuf>) -> Fallible<Value> {
    let start = Instant::now();
    let count = records(files)?.len();
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({"delivered": count, "build_ms": seconds * 1e3, "us_per_record": seconds * 1e6 / count as f64}))
}

fn scan(files: &[PathBuf]) -> Fallible<Value> {
    let start = Instant::now();
    let (mut count, mut bytes) = (0u64, 0u64);
    for file in files {
        let reader = BufReader::with_capacity(1 << 20, File::open(file)?);
        for record in BytesIter::from_reader(reader, RecordReaderConfig { check_integrity: true }) {
            bytes += record?.len() as u64;
            count += 1;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({"delivered": count, "bytes": bytes, "records_per_s": count as f64 / seconds, "gb_per_s": bytes as f64 / seconds / 1e9}))
}

/// Each `load` opens the file anew: that is the crate's way to a single record.
fn random_get(files: Vec<PathBuf>, job: &Value) -> Fallible<Value> {
    let records = records(files)?;
    let count = records.len() as u64;
    let stride = job["stride"].as_u64().ok_or("no stride")?;
    let start = Instant::now();
    let mut bytes = 0u64;
    for k in 0..count {
        let payload: Vec<u8> = records[(k * stride % count) as usize].load()?;
        bytes += payload.len() as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut crc = crc32fast::Hasher::new();
    for number in job["sample"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
        let payload: Vec<u8> = records[number as usize].load()?;
        crc.update(&payload);
    }
    Ok(json!({
        "delivered": count, "bytes": bytes, "checksum": format!("{:08x}", crc.finalize()),
        "us_per_record": seconds * 1e6 / count as f64, "records_per_s": count as f64 / seconds,
    }))
}
