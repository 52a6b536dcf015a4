//! What a benchmark is: one TOML file a workload, read whole and refused when it says something unknown.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::Failure;

/// State of the page cache before each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The data were read once before.
    #[default]
    Warm,
    /// The data files are dropped from the cache before each run, and that they are gone is checked.
    Cold,
}

/// Which direction of a figure is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Rates.
    Higher,
    /// Times and sizes.
    Lower,
}

/// What an engine is in the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Ours: the one the others are compared with.
    Subject,
    /// Does the same job another way.
    #[default]
    Peer,
    /// Ours with other options: shown, not compared.
    Variant,
    /// Does only a part of the job and bounds it from below.
    Floor,
}

/// How far the values of any one sampled record may be from the reference, in levels of 255.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Largest difference of one value.
    pub max: f64,
    /// Mean difference over the values of a record.
    pub mean: f64,
}

/// A chart of lines instead of bars: series that the engines report as lists.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Key of the list drawn.
    pub y: String,
    /// Key of the list it is drawn over; 1, 2, 3, ... without.
    pub x: Option<String>,
    /// Names of the axes.
    pub x_name: String,
    /// With its unit.
    pub y_name: String,
    /// Logarithmic axes.
    #[serde(default)]
    pub log: bool,
    /// Keys of further lists, written below the chart only.
    #[serde(default)]
    pub beside: Vec<String>,
}

/// What must have been delivered for a run to count.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Records delivered over all epochs.
    pub delivered: Option<u64>,
    /// Eight hex digits: CRC-32 over the sorted record numbers; or `data`: the one in the data set's manifest.
    pub checksum: Option<String>,
    /// Payload bytes seen: `true` compares with the data set's manifest.
    #[serde(default)]
    pub bytes: bool,
    /// Values of sampled records are compared with the reference.
    #[serde(default)]
    pub values: bool,
}

/// One engine of a definition.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// The name in tables.
    pub name: String,
    /// The environment it runs in: a name `setup` knows.
    pub peer: String,
    /// Python script below `engines/`, for peers that are Python environments.
    pub script: Option<String>,
    /// Another command altogether (its last argument is the job).
    pub command: Option<Vec<String>>,
    /// What it is in the comparison.
    #[serde(default)]
    pub role: Role,
    /// Largest distance from the reference that still counts as the answer.
    pub tolerance: Option<Tolerance>,
    /// A remark for the report.
    #[serde(default)]
    pub note: String,
    /// The engine gives only a part of what the definition expects: its checksum is not compared.
    #[serde(default)]
    pub uncounted: bool,
    /// It reads all data before the timed part: a cold row would not be one.
    #[serde(default)]
    pub warm_only: bool,
    /// Overrides of the job.
    #[serde(default)]
    pub job: toml::Table,
    /// State of the page cache before its runs: the definition's, or cold in its cold row.
    #[serde(skip)]
    pub cache: Cache,
}

/// Ends the name of an engine's cold row, where a definition has both.
const COLD: &str = " (cold)";

impl Engine {
    /// The name without the state of the cache: a cold row shares it with its warm one.
    pub fn base_name(&self) -> &str {
        self.name.strip_suffix(COLD).unwrap_or(&self.name)
    }

    /// True when `peer` runs under the conditions of this engine: cache state and, where this one fixes them, threads.
    pub fn comparable(&self, peer: &Engine) -> bool {
        let threads = self.job.get("threads");
        self.cache == peer.cache && (threads.is_none() || threads == peer.job.get("threads"))
    }
}

/// One workload.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The file's stem.
    #[serde(skip)]
    pub name: String,
    /// Place in the report, ascending.
    pub place: u32,
    /// Heading in the report.
    pub title: String,
    /// What is done, in words, and what to make of it.
    pub about: String,
    /// What the engines are asked to do.
    pub task: String,
    /// Data set.
    pub data: String,
    /// State of the page cache.
    pub cache: Cache,
    /// Each engine is run from a cold cache too, as a row beside its warm one.
    #[serde(default)]
    pub cold_rows: bool,
    /// Key of the figure that ranks the engines.
    pub figure: String,
    /// Which direction of it is better.
    pub better: Better,
    /// Keys of further figures shown.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Runs of each engine.
    pub repetitions: u32,
    /// After this an engine is ended and counted as failed.
    pub timeout_s: u64,
    /// Handed to every engine: batch, epochs, threads, ...
    #[serde(default)]
    pub job: toml::Table,
    /// Lines instead of bars.
    pub chart: Option<Plot>,
    /// What must have been delivered.
    #[serde(default)]
    pub expect: Expect,
    /// The engines, in the order of the runs.
    pub engine: Vec<Engine>,
}

impl Definition {
    /// Reads `text`; `name` is the file's stem.
    ///
    /// # Errors
    /// When the text is no TOML, misses a field, has an unknown one, or contradicts itself.
    pub fn parse(name: &str, text: &str) -> Result<Definition, Failure> {
        let mut definition: Definition =
            toml::from_str(text).map_err(|e| Failure::new(format!("definition {name}: {e}")))?;
        definition.name = name.to_owned();
        definition.set_caches();
        definition.check().map_err(|why| Failure::new(format!("definition {name}: {why}")))?;
        Ok(definition)
    }

    fn set_caches(&mut self) {
        for mut engine in std::mem::take(&mut self.engine) {
            engine.cache = self.cache;
            let cold =
                Engine { name: format!("{}{COLD}", engine.name), cache: Cache::Cold, ..engine.clone() };
            let both = self.cold_rows && !engine.warm_only;
            self.engine.push(engine);
            self.engine.extend(both.then_some(cold));
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.repetitions == 0 {
            return Err("repetitions must be at least 1".into());
        }
        if self.expect == Expect::default() {
            return Err("expects nothing: a fast wrong engine would pass".into());
        }
        if let Some(checksum) = &self.expect.checksum {
            let hex = checksum.len() == 8 && checksum.bytes().all(|b| b.is_ascii_hexdigit());
            if !hex && checksum != "data" {
                return Err(format!("checksum {checksum:?} is neither 8 hex digits nor \"data\""));
            }
        }
        let mut names = BTreeMap::new();
        for engine in &self.engine {
            if names.insert(&engine.name, ()).is_some() {
                return Err(format!("two engines are named {:?}", engine.name));
            }
            if self.expect.values && engine.role != Role::Floor && engine.tolerance.is_none() {
                return Err(format!("engine {:?} states no tolerance", engine.name));
            }
        }
        Ok(())
    }

    /// The integer `key` of the job.
    pub fn integer(&self, key: &str) -> Option<u64> {
        self.job.get(key).and_then(toml::Value::as_integer).and_then(|v| u64::try_from(v).ok())
    }
}

/// Reads every `*.toml` of `folder`, ordered by place.
///
/// # Errors
/// When the folder cannot be read or one definition is faulty.
pub fn read_all(folder: &Path) -> Result<Vec<Definition>, Failure> {
    let entries = fs::read_dir(folder).map_err(|e| Failure::io(folder, &e))?;
    let mut definitions = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| Failure::io(folder, &e))?.path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|e| Failure::io(&path, &e))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        definitions.push(Definition::parse(&name, &text)?);
    }
    definitions.sort_by(|a, b| (a.place, &a.name).cmp(&(b.place, &b.name)));
    Ok(definitions)
}
