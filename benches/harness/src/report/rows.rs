//! The runs of one definition, put together by engine.

use crate::check::Distance;
use crate::definition::{Better, Definition, Engine, Role};
use crate::run::{Record, Status};
use crate::stats::{self, Summary};

/// One engine's runs.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The engine as defined.
    pub engine: &'a Engine,
    /// Its runs that count.
    runs: Vec<&'a Record>,
    /// The first run that does not count.
    failure: Option<&'a Record>,
}

impl<'a> Row<'a> {
    /// Median and range of `key` over the runs that count.
    pub fn summary(&self, key: &str) -> Option<Summary> {
        let values: Vec<f64> = self.runs.iter().filter_map(|r| r.figures.get(key).copied()).collect();
        Summary::of(&values)
    }

    /// The largest distance from the reference seen.
    pub fn distance(&self) -> Option<Distance> {
        let distances = self.runs.iter().filter_map(|r| r.distance);
        distances.reduce(|a, b| Distance { max: a.max.max(b.max), mean: a.mean.max(b.mean) })
    }

    /// What the engine said under `key`.
    pub fn info(&self, key: &str) -> &str {
        self.runs.first().and_then(|r| r.info.get(key)).map_or("", String::as_str)
    }

    /// Who made the reference of the values.
    pub fn reference(&self) -> &str {
        self.runs.first().map_or("", |r| r.reference.as_str())
    }

    /// `key[0]`, `key[1]`, ... of the median run's place: the first run.
    pub fn series(&self, key: &str) -> Vec<f64> {
        (0..).map_while(|i| self.summary(&format!("{key}[{i}]")).map(|s| s.median)).collect()
    }

    /// Why the row does not count, if so: one wrong answer spoils all.
    pub fn failed(&self) -> Option<(Status, &str)> {
        self.failure.map(|record| (record.status, record.reason.as_str()))
    }

    /// Why the figures should be taken with care.
    pub fn noise(&self, figure: &str) -> Option<String> {
        stats::noise(&self.summary(figure)?, self.summary("other_load_cores").as_ref())
    }
}

/// The rows of `definition`: those that count by its figure, best first, then the others as defined. Engines that were not run
/// at all (an `--only` run) are left out.
pub fn rows<'a>(definition: &'a Definition, records: &'a [Record]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = definition
        .engine
        .iter()
        .map(|engine| {
            let of_engine = records.iter().filter(|r| r.engine == engine.name);
            let (runs, failures): (Vec<_>, Vec<_>) = of_engine.partition(|r| r.status == Status::Ok);
            Row { engine, runs, failure: failures.first().copied() }
        })
        .filter(|row| row.failure.is_some() || !row.runs.is_empty())
        .collect();
    let rank = |row: &Row<'_>| match row.summary(&definition.figure).filter(|_| row.failure.is_none()) {
        Some(summary) if definition.better == Better::Higher => -summary.median,
        Some(summary) => summary.median,
        None => f64::INFINITY,
    };
    rows.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    rows
}

/// The row of ours, when it counts.
pub fn subject<'r, 'a>(rows: &'r [Row<'a>]) -> Option<&'r Row<'a>> {
    rows.iter().find(|row| row.engine.role == Role::Subject && row.failed().is_none())
}

/// How many times better `ours` is than `theirs`; below 1 when worse.
pub fn times_better(more_is_better: bool, ours: f64, theirs: f64) -> f64 {
    if more_is_better { ours / theirs } else { theirs / ours }
}
