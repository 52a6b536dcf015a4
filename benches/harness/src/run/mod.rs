//! Runs definitions: engines as processes, one at a time, in turn, each answer checked before its speed counts.

mod cache;
pub mod environment;
mod job;
mod launch;
pub mod proc;
pub mod process;
mod record;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::Failure;
use crate::check::{self, Truth};
use crate::data::DataSet;
use crate::definition::{Cache, Definition, Engine};
use crate::run::process::Outcome;
use crate::settings::Settings;

pub use record::{Record, Status};

/// Runs `definition`: every engine once, then every engine again, so that a change of the machine meets all of them alike.
/// Each run's line is appended to the results at once. Engines that are missing or fail stay in the results with the reason.
///
/// # Errors
/// When the harness itself fails: no data, no place for results.
pub fn run(definition: &Definition, settings: &Settings) -> Result<Vec<Record>, Failure> {
    fs::create_dir_all(&settings.work).map_err(|e| Failure::io(&settings.work, &e))?;
    let data = DataSet::ready(&definition.data, &settings.data, settings.records)?;
    let mut results = open_results(&settings.results)?;
    let run = unix_ns();
    append(
        &mut results,
        &json!({"kind": "environment", "run": run, "environment": environment::describe()}),
    )?;
    let engines: Vec<&Engine> = definition.engine.iter().filter(|e| wanted(e, settings)).collect();
    let mut records: Vec<Record> = Vec::new();
    let truth = truth(definition, &data, settings)?;
    for repetition in 0..settings.repetitions.unwrap_or(definition.repetitions) {
        for engine in &engines {
            let hopeless =
                records.iter().any(|r| r.engine == engine.name && r.status != Status::Ok && repetition > 0);
            if hopeless {
                continue;
            }
            let mut record = once(definition, engine, &data, &truth, settings)?;
            record.run = run;
            record.repetition = repetition;
            eprintln!("{}", record.progress(&definition.figure));
            append(&mut results, &record.to_json())?;
            records.push(record);
        }
    }
    Ok(records)
}

fn wanted(engine: &Engine, settings: &Settings) -> bool {
    settings.only.as_ref().is_none_or(|part| engine.name.contains(part.as_str()))
}

fn once(
    definition: &Definition,
    engine: &Engine,
    data: &DataSet,
    truth: &(Truth, String),
    settings: &Settings,
) -> Result<Record, Failure> {
    let mut record = Record::new(&definition.name, &engine.name);
    let job = job::Job::new(definition, engine, data, settings)?;
    let program = match launch::argv(engine, &settings.peers) {
        Ok(argv) => argv,
        Err(why) => return Ok(record.failed(Status::Missing, why)),
    };
    let preparation = job.preparation();
    if let Some(preparation) = &preparation {
        let outcome = start(&program, preparation, Duration::from_secs(1800))?;
        if let Err((status, why)) = answer_line(&outcome) {
            return Ok(record.failed(status, format!("preparing its data: {why}")));
        }
        job.mark_prepared()?;
    }
    match engine.cache {
        Cache::Cold => {
            if let Err(why) = cache::evict(&job.files()) {
                return Ok(record.failed(Status::Crashed, why));
            }
        }
        Cache::Warm => cache::warm(&job.files())?,
    }
    let outcome = start(&program, &job.to_json(), Duration::from_secs(definition.timeout_s))?;
    record.measured(&outcome);
    record.reference = truth.1.clone();
    let line = match answer_line(&outcome) {
        Ok(line) => line,
        Err((status, why)) => return Ok(record.failed(status, why)),
    };
    record.said(&line);
    let answer = job.answer(&line)?;
    match check::verdict(&definition.expect, engine, &truth.0, &answer) {
        Ok(distance) => record.distance = distance,
        Err(why) => return Ok(record.failed(Status::Wrong, why)),
    }
    if let Some(order) = job.order()? {
        record.mixing(&order, data.records);
    }
    if !record.figures.contains_key(&definition.figure) {
        return Ok(record.failed(Status::Wrong, format!("gave no {}", definition.figure)));
    }
    Ok(record)
}

fn start(argv: &[std::ffi::OsString], job: &Value, timeout: Duration) -> Result<Outcome, Failure> {
    let mut job = job.clone();
    job["spawned_unix_ns"] = json!(unix_ns());
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).arg(job.to_string());
    launch::environment(&mut command, &job);
    process::run(&mut command, timeout)
        .map_err(|e| Failure::new(format!("{}: {e}", argv[0].to_string_lossy())))
}

/// The one JSON line of an engine, or why there is none.
fn answer_line(outcome: &Outcome) -> Result<Value, (Status, String)> {
    let line = outcome.stdout.lines().rev().find(|line| line.starts_with('{'));
    let line: Option<Value> = line.and_then(|line| serde_json::from_str(line).ok());
    if let Some(missing) = line.as_ref().and_then(|line| line["missing"].as_str()) {
        return Err((Status::Missing, missing.to_owned()));
    }
    match (outcome.status, line) {
        (None, _) => Err((Status::Timeout, format!("ended after {:.0} s", outcome.wall_s))),
        (Some(status), Some(line)) if status.success() => Ok(line),
        (Some(status), None) if status.success() => {
            Err((Status::Crashed, format!("printed no JSON line; {}", outcome.stderr)))
        }
        (Some(status), _) => Err((Status::Crashed, format!("{status}; {}", outcome.stderr))),
    }
}

/// What is right for this data set, and who says so.
fn truth(definition: &Definition, data: &DataSet, settings: &Settings) -> Result<(Truth, String), Failure> {
    let expect = &definition.expect;
    let epochs = definition.integer("epochs").unwrap_or(1);
    // What is written for the usual size scales with a data set of another.
    let resized = data.records != data.usual_records;
    let delivered = expect.delivered.map(|want| match want == data.usual_records * epochs {
        true => data.records * epochs,
        false => want,
    });
    let checksum = match expect.checksum.as_deref() {
        Some("data") => Some(data.sample_checksum.clone()),
        Some(_) if resized => Some(check::expected_checksum(data.records, epochs)),
        other => other.map(str::to_owned),
    };
    let bytes = expect.bytes.then_some(data.payload_bytes * epochs);
    let (values, reference) = match expect.values {
        true => {
            let (values, source) = data.reference(definition, settings)?;
            (Some(values), source)
        }
        false => (None, String::new()),
    };
    let sampled = data.sample().len();
    Ok((Truth { delivered, checksum, bytes, values, sampled }, reference))
}

fn open_results(path: &Path) -> Result<File, Failure> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| Failure::io(parent, &e))?;
    }
    OpenOptions::new().create(true).append(true).open(path).map_err(|e| Failure::io(path, &e))
}

fn append(file: &mut File, line: &Value) -> Result<(), Failure> {
    writeln!(file, "{line}").map_err(|e| Failure::new(format!("results: {e}")))
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
