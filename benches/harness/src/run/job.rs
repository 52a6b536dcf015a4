//! What one engine is asked to do, as the JSON object it gets, and what it left behind.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Failure;
use crate::check::Answer;
use crate::data::DataSet;
use crate::definition::{Definition, Engine};
use crate::settings::Settings;

/// One job.
#[derive(Debug, Clone)]
pub struct Job {
    fields: Value,
    files: Vec<PathBuf>,
    /// Folder of the data in the engine's own format, where it needs one.
    prepared: Option<PathBuf>,
    values_out: PathBuf,
    ids_out: Option<PathBuf>,
}

impl Job {
    /// The job of `engine` in `definition`: the definition's fields, then the engine's overrides, then what the machine gives.
    ///
    /// # Errors
    /// When the scratch folder cannot be used.
    pub fn new(
        definition: &Definition,
        engine: &Engine,
        data: &DataSet,
        settings: &Settings,
    ) -> Result<Job, Failure> {
        let as_json = |table: &toml::Table| serde_json::to_value(table).unwrap_or(Value::Null);
        let mut fields = as_json(&definition.job);
        if let Value::Object(overrides) = as_json(&engine.job) {
            for (key, value) in overrides {
                fields[key] = value;
            }
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if fields["threads"].as_u64().is_none_or(|threads| threads == 0) {
            fields["threads"] = json!(cores);
        }
        let values_out = settings.work.join("values.f32");
        let ids_out = fields["order"].as_bool().unwrap_or(false).then(|| settings.work.join("ids.u64"));
        for path in [Some(&values_out), ids_out.as_ref()].into_iter().flatten() {
            // An engine must not be credited with what the one before it left.
            if path.exists() {
                fs::remove_file(path).map_err(|e| Failure::io(path, &e))?;
            }
        }
        let prepared = fields["prepare"].as_str().map(|format| data.folder.join("prepared").join(format));
        fields["task"] = json!(definition.task);
        fields["files"] = json!(data.files);
        fields["data"] = json!(data.folder);
        fields["work"] = json!(settings.work);
        fields["records"] = json!(data.records);
        fields["payload_bytes"] = json!(data.payload_bytes);
        fields["sample"] = json!(data.sample());
        fields["values_out"] = json!(values_out);
        fields["ids_out"] = json!(ids_out);
        fields["prepared"] = json!(prepared);
        Ok(Job { fields, files: data.files.clone(), prepared, values_out, ids_out })
    }

    /// The object for the engine.
    pub fn to_json(&self) -> Value {
        self.fields.clone()
    }

    /// The job that puts the data into the engine's own format, when it needs one that is not there yet.
    pub fn preparation(&self) -> Option<Value> {
        let folder = self.prepared.as_ref()?;
        if folder.join("complete").exists() {
            return None;
        }
        let mut fields = self.fields.clone();
        fields["task"] = json!("prepare");
        Some(fields)
    }

    /// Notes that the data of this format are there.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn mark_prepared(&self) -> Result<(), Failure> {
        let Some(folder) = &self.prepared else { return Ok(()) };
        let mark = folder.join("complete");
        fs::create_dir_all(folder).and_then(|()| fs::write(&mark, "")).map_err(|e| Failure::io(&mark, &e))
    }

    /// Every file the engine may read.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.files.clone();
        let sidecars = self.files.first().and_then(|file| Some(file.parent()?.join(".tfrmap")));
        for folder in [self.prepared.as_ref(), sidecars.as_ref()].into_iter().flatten() {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            files.extend(entries.map(|entry| entry.path()).filter(|path| path.is_file()));
        }
        files
    }

    /// What the engine says it delivered, with the values it wrote.
    ///
    /// # Errors
    /// When the values are there but cannot be read.
    pub fn answer(&self, line: &Value) -> Result<Answer, Failure> {
        Ok(Answer {
            delivered: line["delivered"].as_u64(),
            checksum: line["checksum"].as_str().map(str::to_owned),
            bytes: line["bytes"].as_u64(),
            values: read_words(&self.values_out)?
                .map(|words| words.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
        })
    }

    /// The order of the first epoch, where the job asked for it.
    ///
    /// # Errors
    /// When it is there but cannot be read.
    pub fn order(&self) -> Result<Option<Vec<u64>>, Failure> {
        let Some(path) = &self.ids_out else { return Ok(None) };
        let words = read_words(path)?;
        Ok(words.map(|words| words.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()))
    }
}

fn read_words(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    fs::read(path).map(Some).map_err(|e| Failure::io(path, &e))
}
