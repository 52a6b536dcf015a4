//! The text of the report.

use std::fmt::Write;

use serde_json::Value;

use crate::Failure;
use crate::definition::Definition;
use crate::report::Results;
use crate::report::charts::{chart, series};
use crate::report::figures::{heading, number, written};
use crate::report::losses::losses_of;
use crate::report::rows::{Row, rows};
use crate::report::table::{remarks, table_of};
use crate::stats::Summary;

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
    let mut other_load_cores = Vec::new();
    for definition in definitions {
        let Some((records, environment)) = results.latest(definition) else {
            not_run.push(definition.name.as_str());
            continue;
        };
        environments.push(environment);
        other_load_cores.extend(records.iter().filter_map(|r| r.figures.get("other_load_cores").copied()));
        let rows = rows(definition, &records);
        let chart = chart(definition, &rows);
        let file = format!("bench-{}.svg", definition.name);
        let _ = writeln!(sections, "\n## {}\n\n{}\n", definition.title, definition.about.trim());
        if chart.is_some() {
            let _ = writeln!(sections, "![{}](img/{file})\n", definition.title);
        }
        sections.push_str(&table_of(definition, &rows));
        sections.push_str(&series(definition, &rows));
        sections.push_str(&remarks(definition, &rows));
        if definition.name == "main" {
            summary = summary_of(definition, &rows, environment, &file);
        }
        losses.extend(losses_of(definition, &rows));
        charts.extend(chart.map(|chart| (file, chart)));
    }
    if environments.is_empty() {
        return Err(Failure::new("no results: `tfrmap-bench run all` makes them"));
    }
    let mut text = String::from(HEAD);
    text.push_str(&machine(&environments, &other_load_cores));
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
the number of records, a checksum that shows each was delivered exactly once an epoch, and each of 32 sampled records\n\
within the stated distance (*allowed*) from a reference (TensorFlow's accurate JPEG decode and resize), in levels of 255.\n\n\
Absolute times belong to the machine below; ratios within one table travel better. *CPU us a record* is the CPU time of the whole process\n\
(start-up and imports included) over the records delivered: it holds when other programs disturb the wall clock. Memory is the peak over\n\
the process tree, sampled ten times a second (twice where there are worker processes); *anonymous* is what a machine must have, *file pages* are cache that it can take back. Of\n\
engines that are several processes, each has its part of the pages they share. *First batch* counts from the making of the pipeline,\n\
*from process start* has the interpreter's start and imports in it.\n";

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
fn machine(environments: &[&Value], other_load_cores: &[f64]) -> String {
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
    let _ = writeln!(out, "Run from {} to {}, commit {}.", dates[0], dates[dates.len() - 1], runs.join(", "));
    if let Some(load) = Summary::of(other_load_cores) {
        let [median, max] = [load.median, load.max].map(|cores| number(cores, 2));
        let _ =
            writeln!(out, "Other programs kept {median} cores busy in the median run, {max} in the worst.");
    }
    out
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
