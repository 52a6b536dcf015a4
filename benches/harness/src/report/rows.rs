//! The runs of one definition, put together by engine.

use std::collections::BTreeMap;

use crate::check::Distance;
use crate::definition::{Better, Cache, Definition, Engine, Role};
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

    /// `key[0]`, `key[1]`, ...: the median of each over the runs.
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

/// The rows of `definition`: those that count by its figure, best first, each with its cold row behind it, then the others as
/// defined. Engines that were not run at all (an `--only` run) are left out.
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
    // Rank and place of the first row of each name.
    let mut places: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        places.entry(row.engine.base_name()).or_insert((rank(row), i));
    }
    let place = |row: &Row<'_>| (places[row.engine.base_name()], row.engine.cache == Cache::Cold);
    rows.sort_by(|a, b| {
        let (((rank_a, i), cold_a), ((rank_b, j), cold_b)) = (place(a), place(b));
        rank_a.total_cmp(&rank_b).then((i, cold_a).cmp(&(j, cold_b)))
    });
    rows
}

/// The row of ours that `row` is compared with, when it counts: the one under the same conditions.
pub fn ours_for<'r, 'a>(rows: &'r [Row<'a>], row: &Row<'_>) -> Option<&'r Row<'a>> {
    let counts = |r: &&Row<'_>| r.engine.role == Role::Subject && r.failed().is_none();
    rows.iter().filter(counts).find(|r| r.engine.comparable(row.engine))
}

/// How many times better `ours` is than `theirs`; below 1 when worse.
pub fn times_better(more_is_better: bool, ours: f64, theirs: f64) -> f64 {
    if more_is_better { ours / theirs } else { theirs / ours }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITION: &str = r#"
        place = 1
        title = ""
        about = ""
        task = "batches"
        data = "label"
        cache = "warm"
        cold_rows = true
        figure = "rate"
        better = "higher"
        repetitions = 1
        timeout_s = 1
        expect = { delivered = 1 }
        engine = [{ name = "tfrmap", peer = "tfrmap", role = "subject" }, { name = "peer", peer = "none" }]
    "#;

    fn record(engine: &str, rate: f64) -> Record {
        let mut record = Record::new("test", engine);
        record.figures.insert("rate".into(), rate);
        record
    }

    #[test]
    fn a_cold_row_stands_beside_its_warm_one_and_is_compared_with_our_cold_one() {
        let definition = Definition::parse("test", DEFINITION).unwrap();
        let runs = [("peer (cold)", 1.0), ("peer", 2.0), ("tfrmap (cold)", 1.5), ("tfrmap", 4.0)];
        let records: Vec<Record> = runs.iter().map(|(engine, rate)| record(engine, *rate)).collect();
        let rows = rows(&definition, &records);
        let names: Vec<&str> = rows.iter().map(|row| row.engine.name.as_str()).collect();
        assert_eq!(names, ["tfrmap", "tfrmap (cold)", "peer", "peer (cold)"]);
        let ours = |row| ours_for(&rows, row).unwrap().engine.name.as_str();
        assert_eq!([ours(&rows[2]), ours(&rows[3])], ["tfrmap", "tfrmap (cold)"]);
    }

    #[test]
    fn a_peer_of_a_sweep_is_compared_with_as_many_threads() {
        let engines = r#"engine = [
            { name = "tfrmap, 2", peer = "tfrmap", role = "subject", job = { threads = 2 } },
            { name = "tfrmap, 1", peer = "tfrmap", role = "subject", job = { threads = 1 } },
            { name = "peer, 1", peer = "none", job = { threads = 1 } }]"#;
        let head = &DEFINITION[..DEFINITION.find("engine =").unwrap()];
        let definition = Definition::parse("test", &format!("{head}{engines}")).unwrap();
        let records = ["tfrmap, 2", "tfrmap, 1", "peer, 1"].map(|engine| record(engine, 1.0));
        let rows = rows(&definition, &records);
        let peer = rows.iter().find(|row| row.engine.role == Role::Peer).unwrap();
        assert_eq!(ours_for(&rows, peer).unwrap().engine.name, "tfrmap, 1");
    }
}
