//! One line of results.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::check::Distance;
use crate::mixing::Mixing;
use crate::run::process::Outcome;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The answer is right.
    Ok,
    /// The engine or something it needs is not installed.
    Missing,
    /// It ended in an error or printed no result.
    Crashed,
    /// It took longer than the definition allows.
    Timeout,
    /// It was fast or slow, but the answer is wrong.
    Wrong,
}

impl Status {
    const NAMES: [(Status, &str); 5] = [
        (Status::Ok, "ok"),
        (Status::Missing, "missing"),
        (Status::Crashed, "crashed"),
        (Status::Timeout, "timeout"),
        (Status::Wrong, "wrong"),
    ];

    /// The word in results and reports.
    pub fn name(self) -> &'static str {
        Status::NAMES.iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Option<Status> {
        Status::NAMES.iter().find(|(_, n)| *n == name).map(|(status, _)| *status)
    }
}

/// One run of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The definition's name.
    pub definition: String,
    /// The engine's name.
    pub engine: String,
    /// All records of one `tfrmap-bench run` of a definition share this number; later runs have larger ones.
    pub run: u64,
    /// Counted from 0.
    pub repetition: u32,
    /// How it ended.
    pub status: Status,
    /// Why it does not count; empty when it does.
    pub reason: String,
    /// Everything with a number: what the engine said and what was seen from outside.
    pub figures: BTreeMap<String, f64>,
    /// What the engine said in words: versions, kind of shuffle.
    pub info: BTreeMap<String, String>,
    /// How far the sampled values are from the reference.
    pub distance: Option<Distance>,
    /// Who made the reference.
    pub reference: String,
}

impl Record {
    /// An empty record.
    pub fn new(definition: &str, engine: &str) -> Record {
        Record {
            definition: definition.to_owned(),
            engine: engine.to_owned(),
            run: 0,
            repetition: 0,
            status: Status::Ok,
            reason: String::new(),
            figures: BTreeMap::new(),
            info: BTreeMap::new(),
            distance: None,
            reference: String::new(),
        }
    }

    /// The same run, not counted.
    pub fn failed(mut self, status: Status, reason: impl Into<String>) -> Record {
        self.status = status;
        self.reason = reason.into();
        self
    }

    /// Adds what was seen from outside.
    pub fn measured(&mut self, outcome: &Outcome) {
        for (key, value) in [
            ("wall_s", outcome.wall_s),
            ("cpu_s", outcome.cpu_s),
            ("peak_rss_mb", outcome.peak_rss_mb),
            ("peak_anonymous_mb", outcome.peak.anonymous),
            ("peak_file_mb", outcome.peak.file),
        ] {
            self.figures.insert(key.to_owned(), round(value));
        }
        if let Some(cores) = outcome.other_load_cores {
            self.figures.insert("other_load_cores".to_owned(), round(cores));
        }
    }

    /// Adds what the engine said.
    pub fn said(&mut self, line: &Value) {
        let Some(fields) = line.as_object() else { return };
        for (key, value) in fields {
            match value {
                Value::Number(number) => {
                    self.figures.insert(key.clone(), number.as_f64().unwrap_or(f64::NAN));
                }
                Value::String(text) => {
                    self.info.insert(key.clone(), text.clone());
                }
                Value::Array(items) => {
                    for (i, number) in items.iter().filter_map(Value::as_f64).enumerate() {
                        self.figures.insert(format!("{key}[{i}]"), number);
                    }
                }
                _ => {}
            }
        }
        // CPU time a record tells engines apart even while other programs take their share of the machine.
        let (cpu, delivered) = (self.figures.get("cpu_s"), self.figures.get("delivered"));
        if let (Some(cpu), Some(delivered)) = (cpu, delivered.filter(|d| **d > 0.0)) {
            let per_record = round(cpu * 1e6 / delivered);
            self.figures.insert("cpu_us_per_record".into(), per_record);
        }
    }

    /// Adds how well `order`, one epoch of `records` records, is shuffled.
    pub fn mixing(&mut self, order: &[u64], records: u64) {
        let mixing = Mixing::of(order, records);
        for (key, value) in mixing.figures() {
            self.figures.insert(key.to_owned(), round(value));
        }
    }

    /// One line for the terminal.
    pub fn progress(&self, figure: &str) -> String {
        let what = match self.figures.get(figure).filter(|_| self.status == Status::Ok) {
            Some(value) => format!("{value:.1} {figure}"),
            None => format!("{}: {}", self.status.name(), self.reason),
        };
        let load = self.figures.get("other_load_cores");
        let load = load.map_or_else(String::new, |cores| format!(" (other load {cores:.2})"));
        format!("{} #{} {}: {what}{load}", self.definition, self.repetition, self.engine)
    }

    /// The line of the results file.
    pub fn to_json(&self) -> Value {
        json!({
            "kind": "run",
            "definition": self.definition,
            "engine": self.engine,
            "run": self.run,
            "repetition": self.repetition,
            "status": self.status.name(),
            "reason": self.reason,
            "figures": self.figures,
            "info": self.info,
            "max_difference_levels": self.distance.map(|d| d.max),
            "mean_difference_levels": self.distance.map(|d| d.mean),
            "reference": self.reference,
        })
    }

    /// Reads a line written by `to_json`; `None` for any other line.
    pub fn from_json(line: &Value) -> Option<Record> {
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        let distance = line["max_difference_levels"].as_f64().zip(line["mean_difference_levels"].as_f64());
        Some(Record {
            definition: text("definition")?,
            engine: text("engine")?,
            run: line["run"].as_u64()?,
            repetition: u32::try_from(line["repetition"].as_u64()?).ok()?,
            status: Status::parse(line["status"].as_str()?)?,
            reason: text("reason")?,
            figures: map(&line["figures"], |v| v.as_f64()),
            info: map(&line["info"], |v| v.as_str().map(str::to_owned)),
            distance: distance.map(|(max, mean)| Distance { max, mean }),
            reference: text("reference")?,
        })
    }
}

fn map<T>(object: &Value, value: impl Fn(&Value) -> Option<T>) -> BTreeMap<String, T> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter_map(|(key, v)| Some((key.clone(), value(v)?))).collect()
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
