//! The text of the report.

use std::fmt::Write;

use serde_json::Value;

use crate::Failure;
use crate::definition::{Better, Cache, Definition, Role};
use crate::report::Results;
use crate::report::figures::{heading, more_is_better, number, written};
use crate::report::rows::{Row, rows, subject, times_better};
use crate::report::svg::{self, Bar, Line, Tone};
use crate::run::Record;

/// A peer that is better by less than this is not told apart.
const CLEAR: f64 = 0.97;

/// What `report` writes.
#[derive(Debug)]
pub struct Document {
    /// docs/benchmarks.md.
    pub text: String,
    /// File name and SVG text of each chart.
    pub charts: Vec<(String, String)>,
    /// The part for the README.
    pub summary: String,
}

/// The whole report of the latest runs.
///
/// # Errors
/// When no definition has results.
pub fn write(definitions: &[Definition], results: &Results) -> Result<Document, Failure> {
    let mut sections = String::new();
    let mut charts = Vec::new();
    let mut losses = Vec::new();
    let mut summary = String::new();
    let mut environments: Vec<&Value> = Vec::new();
    let mut not_run = Vec::new();
    for definition in definitions {
        let Some((records, environment)) = results.latest(definition) else {
            not_run.push(definition.name.as_str());
            continue;
        };
        environments.push(environment);
        let rows = rows(definition, &records);
        let chart = chart(definition, &rows);
        let file = format!("bench-{}.svg", definition.name);
        let _ = writeln!(sections, "\n## {}\n\n{}\n", definition.title, definition.about.trim());
        if chart.is_some() {
            let _ = writeln!(sections, "![{}](img/{file})\n", definition.title);
        }
        sections.push_str(&table_of(definition, &rows));
        sections.push_str(&remarks(definition, &rows));
        if definition.name == "main" {
            summary = summary_of(definition, &rows, environment, &file);
        }
        losses.extend(lost(definition, &rows));
        charts.extend(chart.map(|chart| (file, chart)));
    }
    if environments.is_empty() {
        return Err(Failure::new("no results: `tfrmap-bench run all` makes them"));
    }
    let mut text = String::from(HEAD);
    text.push_str(&machine(&environments));
    text.push_str("\n## Where tfrmap is behind\n\n");
    if losses.is_empty() {
        text.push_str("In none of the figures below is a peer with the right answer clearly (3 %) ahead.\n");
    }
    for loss in &losses {
        let _ = writeln!(text, "- {loss}");
    }
    text.push_str(&sections);
    if !not_run.is_empty() {
        let _ = writeln!(text, "\n## Not run\n\nDefined, without results here: {}.", not_run.join(", "));
    }
    text.push_str(FOOT);
    Ok(Document { text, charts, summary })
}

const HEAD: &str = "# Benchmarks\n\n\
<!-- Written by `tfrmap-bench report`; changes by hand are lost. -->\n\n\
Every figure on this page comes from a run of `tfrmap-bench` and can be made again with the commands of\n\
[its README](../benches/harness/README.md). Each engine is a process of its own; engines run in turn, one at a time, and the\n\
whole round is repeated. Figures are medians with the smallest and the largest run beside them. A run counts only when its answer is right:\n\
the number of records, a checksum that shows each was delivered exactly once an epoch, and the values of 32 sampled records\n\
within the stated distance from a reference (TensorFlow's accurate JPEG decode and resize).\n\n\
Absolute times belong to the machine below; ratios within one table travel better. *CPU us a record* is the CPU time of the whole process\n\
(start-up and imports included) over the records delivered: it holds when other programs disturb the wall clock. Memory is the peak over\n\
the process tree, sampled ten times a second; *anonymous* is what a machine must have, *file pages* are cache that it can take back.\n";

const FOOT: &str = "\n## What is not compared\n\n\
- Decoders on a GPU (DALI `mixed`, nvJPEG): another machine, another bill. All figures are for CPUs.\n\
- Reading from object stores and network file systems.\n\
- Formats that store pictures decoded or re-encoded, except where a row says so: FFCV's own format holds other JPEGs than the data set.\n\
- Training itself: no model runs beside the loaders.\n\n\
## How to repeat this\n\n\
```sh\n\
cargo run --release -p tfrmap-bench -- setup tf libjpeg-turbo     # and any of: dali py torch ffcv tfrecord-crate\n\
cargo run --release -p tfrmap-bench -- run all\n\
cargo run --release -p tfrmap-bench -- report\n\
```\n\n\
The lines this page was written from are in\n\
[`benches/harness/results`](../benches/harness/results): `tfrmap-bench report --results benches/harness/results/FILE` writes it again.\n";

/// Machine and time, once if all runs share them.
fn machine(environments: &[&Value]) -> String {
    let mut out = String::from("\n## The machine\n\n");
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let first = environments[0];
    let simd: Vec<String> = first["simd"].as_array().into_iter().flatten().map(text).collect();
    let _ = writeln!(
        out,
        "{}, {} cores, {} GB, {}; Linux {}; {}.\n",
        text(&first["cpu"]),
        first["cores"],
        first["memory_gb"],
        simd.join(" "),
        text(&first["kernel"]),
        text(&first["rustc"]),
    );
    let mut runs: Vec<String> = environments
        .iter()
        .map(|e| {
            let changed = if e["uncommitted_changes"] == true { " with changes" } else { "" };
            format!("{}{changed}", text(&e["commit"]))
        })
        .collect();
    runs.dedup();
    let mut dates: Vec<String> = environments.iter().map(|e| text(&e["date"])).collect();
    dates.sort();
    let _ = writeln!(
        out,
        "Run from {} to {}, commit {}. Load average at the starts: {}.",
        dates[0],
        dates[dates.len() - 1],
        runs.join(", "),
        environments.iter().map(|e| text(&e["load_average"])).collect::<Vec<_>>().join(", "),
    );
    out
}

/// The table of `definition` for the terminal.
pub fn table(definition: &Definition, records: &[Record]) -> String {
    let rows = rows(definition, records);
    format!("{}\n\n{}{}", definition.title, table_of(definition, &rows), remarks(definition, &rows))
}

fn table_of(definition: &Definition, rows: &[Row<'_>]) -> String {
    let figure = definition.figure.as_str();
    let keys: Vec<&String> =
        definition.columns.iter().filter(|key| rows.iter().any(|row| row.summary(key).is_some())).collect();
    let values = definition.expect.values;
    let ours = subject(rows).and_then(|row| row.summary(figure)).map(|s| s.median);
    let shuffled = rows.iter().any(|row| !row.info("shuffle").is_empty());
    let mut heads = vec!["engine".to_owned(), format!("**{}**", heading(figure)), "min to max".into()];
    heads.extend(ours.map(|_| "tfrmap is".to_owned()));
    heads.extend(keys.iter().map(|key| heading(key).to_owned()));
    if values {
        heads.push("off reference: max, mean (of 255)".into());
    }
    if shuffled {
        heads.push("shuffle".into());
    }
    let mut out = format!("| {} |\n|---|{}\n", heads.join(" | "), "--:|".repeat(heads.len() - 1));
    for row in rows {
        let mut cells = vec![row.engine.name.clone()];
        if let Some((status, reason)) = row.failed() {
            let reason = reason.replace('|', "/");
            cells.push(format!("*{}*: {}", status.name(), reason.chars().take(160).collect::<String>()));
            cells.resize(heads.len(), String::new());
        } else {
            let summary = row.summary(figure);
            cells.push(summary.map_or_else(String::new, |s| format!("**{}**", written(figure, s.median))));
            cells.push(summary.map_or_else(String::new, |s| {
                format!("{} to {}", written(figure, s.min), written(figure, s.max))
            }));
            if let Some(ours) = ours {
                let better = definition.better == Better::Higher;
                let times = summary
                    .filter(|_| !matches!(row.engine.role, Role::Subject | Role::Variant))
                    .map(|s| format!("{}x", number(times_better(better, ours, s.median), 2)));
                cells.push(times.unwrap_or_default());
            }
            for key in &keys {
                cells.push(row.summary(key).map_or_else(String::new, |s| written(key, s.median)));
            }
            if values {
                cells
                    .push(row.distance().map_or_else(String::new, |d| {
                        format!("{}, {}", number(d.max, 2), number(d.mean, 3))
                    }));
            }
            if shuffled {
                cells.push(row.info("shuffle").to_owned());
            }
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// What a reader must know of the rows: noise, notes, versions, cache state.
fn remarks(definition: &Definition, rows: &[Row<'_>]) -> String {
    let mut out = String::new();
    let runs =
        rows.iter().filter_map(|row| row.summary(&definition.figure)).map(|s| s.runs).max().unwrap_or(0);
    let cache = match definition.cache {
        Cache::Warm => "warm page cache",
        Cache::Cold => "cold page cache (dropped and checked before each run)",
    };
    let settings: Vec<String> = definition.job.iter().map(|(key, value)| format!("{key} {value}")).collect();
    let reference = rows.iter().map(Row::reference).find(|r| !r.is_empty());
    let times = if runs == 1 { "One run".to_owned() } else { format!("{runs} runs") };
    let settings = if settings.is_empty() { String::new() } else { format!("; {}", settings.join(", ")) };
    let _ = write!(out, "\n{times} of each, {cache}{settings}.");
    if let Some(reference) = reference {
        let _ = write!(out, " Reference values by {reference}.");
    }
    out.push('\n');
    let mut notes = Vec::new();
    for row in rows {
        let name = &row.engine.name;
        let mut parts: Vec<String> = Vec::new();
        if !row.engine.note.is_empty() {
            parts.push(row.engine.note.clone());
        }
        if !row.info("version").is_empty() && row.engine.peer != "tfrmap" {
            parts.push(row.info("version").to_owned());
        }
        if let Some(noise) = row.noise(&definition.figure) {
            parts.push(format!("noisy: {noise}"));
        }
        if !parts.is_empty() {
            notes.push(format!("- {name}: {}.", parts.join("; ")));
        }
    }
    let not_run = definition.engine.iter().filter(|e| !rows.iter().any(|row| row.engine.name == e.name));
    let not_run: Vec<&str> = not_run.map(|engine| engine.name.as_str()).collect();
    if !not_run.is_empty() {
        notes.push(format!("- Not run this time: {}.", not_run.join(", ")));
    }
    if !notes.is_empty() {
        let _ = writeln!(out, "\n{}", notes.join("\n"));
    }
    out
}

/// Sentences for every figure in which a peer is clearly better than ours.
fn lost(definition: &Definition, rows: &[Row<'_>]) -> Vec<String> {
    let (counted, failed): (Vec<_>, Vec<_>) =
        rows.iter().filter(|row| row.engine.role == Role::Subject).partition(|row| row.failed().is_none());
    let no_result = failed.iter().filter_map(|row| row.failed()).map(|(status, reason)| {
        format!("{}: tfrmap has no result ({}: {reason}).", definition.title, status.name())
    });
    let mut sentences: Vec<String> = no_result.collect();
    // Pages of files are cache that is given back when asked for: more of them is neither good nor bad.
    let columns = definition.columns.iter().filter(|key| *key != "peak_file_mb");
    let compared = std::iter::once(&definition.figure).chain(columns);
    for key in compared {
        let more = match *key == definition.figure {
            true => definition.better == Better::Higher,
            false => more_is_better(key),
        };
        for ours in &counted {
            let Some(mine) = ours.summary(key) else { continue };
            for peer in rows.iter().filter(|row| rivals(ours, row)) {
                let Some(theirs) = peer.summary(key) else { continue };
                if times_better(more, mine.median, theirs.median) < CLEAR {
                    sentences.push(format!(
                        "{}, {}: {} {}, {} {}.",
                        definition.title,
                        heading(key),
                        peer.engine.name,
                        written(key, theirs.median),
                        ours.engine.name,
                        written(key, mine.median)
                    ));
                }
            }
        }
    }
    sentences
}

/// True for a peer with the right answer and, in a sweep over threads, with as many of them.
fn rivals(ours: &Row<'_>, peer: &Row<'_>) -> bool {
    let threads = |row: &Row<'_>| row.engine.job.get("threads").cloned();
    let alike = threads(ours).is_none() || threads(ours) == threads(peer);
    peer.engine.role == Role::Peer && peer.failed().is_none() && alike
}

fn tone(role: Role) -> Tone {
    match role {
        Role::Subject | Role::Variant => Tone::Subject,
        Role::Peer => Tone::Peer,
        Role::Floor => Tone::Floor,
    }
}

fn chart(definition: &Definition, rows: &[Row<'_>]) -> Option<String> {
    let good = || rows.iter().filter(|row| row.failed().is_none());
    if let Some(plot) = &definition.chart {
        let lines: Vec<Line> = good()
            .map(|row| {
                let ys = row.series(&plot.y);
                let xs = plot.x.as_ref().map(|x| row.series(x));
                let xs = xs.unwrap_or_else(|| (1..=ys.len()).map(|i| i as f64).collect());
                Line {
                    label: row.engine.name.clone(),
                    points: xs.into_iter().zip(ys).collect(),
                    tone: tone(row.engine.role),
                }
            })
            .filter(|line| line.points.len() > 1)
            .collect();
        return (!lines.is_empty())
            .then(|| svg::lines(&definition.title, &plot.x_name, &plot.y_name, plot.log, &lines));
    }
    let key = definition.figure.as_str();
    let bars: Vec<Bar> = good()
        .filter_map(|row| {
            let summary = row.summary(key)?;
            Some(Bar {
                label: row.engine.name.clone(),
                value: summary.median,
                range: (summary.min, summary.max),
                tone: tone(row.engine.role),
                decimals: if summary.median >= 100.0 { 0 } else { 2 },
            })
        })
        .collect();
    let way = if definition.better == Better::Higher { "more is better" } else { "less is better" };
    (bars.len() > 1).then(|| svg::bars(&definition.title, &format!("{}, {way}", heading(key)), &bars))
}

/// Chart and short table for the README.
fn summary_of(definition: &Definition, rows: &[Row<'_>], environment: &Value, file: &str) -> String {
    let figure = definition.figure.as_str();
    let mut out = format!("\n![{}](docs/img/{file})\n\n", definition.title);
    let _ = writeln!(
        out,
        "| engine | {} | min to max | first batch from process start, ms | anonymous memory, MB | shuffle |\n|---|--:|--:|--:|--:|---|",
        heading(figure)
    );
    for row in rows.iter().filter(|row| row.failed().is_none()) {
        let Some(summary) = row.summary(figure) else { continue };
        let cell = |key: &str| row.summary(key).map_or_else(String::new, |s| written(key, s.median));
        let _ = writeln!(
            out,
            "| {} | **{}** | {} to {} | {} | {} | {} |",
            row.engine.name,
            written(figure, summary.median),
            written(figure, summary.min),
            written(figure, summary.max),
            cell("first_batch_from_start_ms"),
            cell("peak_anonymous_mb"),
            row.info("shuffle")
        );
    }
    let _ = writeln!(
        out,
        "\n{}; {} cores ({}); medians of {} runs in turn. [All benchmarks](docs/benchmarks.md), with what is compared, where \
         tfrmap is behind, and the commands that repeat them.\n",
        definition.title,
        environment["cores"],
        environment["cpu"].as_str().unwrap_or("unknown"),
        rows.iter().filter_map(|r| r.summary(figure)).map(|s| s.runs).max().unwrap_or(0),
    );
    out
}
