//! tfrmap as an engine: gets its job as JSON, prints one JSON line.

mod batches;
mod clock;
mod growth;
mod records;

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::Failure;

/// A job's fields.
#[derive(Debug)]
pub struct Job(Value);

impl Job {
    /// The integer `key`.
    ///
    /// # Errors
    /// When it is not there.
    pub fn integer(&self, key: &str) -> Result<u64, Failure> {
        self.0[key].as_u64().ok_or_else(|| Failure::new(format!("the job has no integer {key:?}")))
    }

    /// The integer `key`, if it is there.
    pub fn optional(&self, key: &str) -> Option<u64> {
        self.0[key].as_u64()
    }

    /// The text `key`; empty when it is not there.
    pub fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    /// The data files.
    pub fn files(&self) -> Vec<PathBuf> {
        let files = self.0["files"].as_array().into_iter().flatten();
        files.filter_map(|f| f.as_str()).map(PathBuf::from).collect()
    }

    /// The records whose values are compared.
    pub fn sample(&self) -> Vec<u64> {
        self.0["sample"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
    }
}

/// Does the job and prints the line.
///
/// # Errors
/// A job that is no JSON or misses a field, or an error of the library.
pub fn main(job: &str) -> Result<(), Failure> {
    let job = Job(serde_json::from_str(job).map_err(|e| Failure::new(format!("job: {e}")))?);
    let mut line: Map<String, Value> = match job.text("task") {
        "batches" => batches::images(&job),
        "tensors" => batches::tensors(&job),
        "resume" => batches::resume(&job),
        "reference" => {
            println!("{}", batches::reference(&job)?);
            return Ok(());
        }
        "growth" => growth::growth(&job),
        "prepare" => records::prepare(&job),
        "index" => records::index(&job),
        "open" => records::open(&job),
        "random-get" => records::random_get(&job),
        "scan" => records::scan(&job),
        task => return Err(Failure::new(format!("tfrmap has no task {task:?}"))),
    }?;
    line.insert("version".into(), format!("tfrmap {}", env!("CARGO_PKG_VERSION")).into());
    println!("{}", Value::Object(line));
    Ok(())
}

/// An error of the library, in its own words.
fn failed(error: tfrmap::Error) -> Failure {
    Failure::new(error.to_string())
}

/// An object of figures.
macro_rules! line {
    ($($json:tt)+) => {
        match ::serde_json::json!($($json)+) {
            ::serde_json::Value::Object(fields) => fields,
            _ => ::serde_json::Map::new(),
        }
    };
}
use line;
