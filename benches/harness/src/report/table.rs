//! The table of a definition in Markdown, with what a reader must know of its rows.

use std::fmt::Write;

use crate::definition::{Better, Cache, Definition, Role};
use crate::report::charts::series;
use crate::report::figures::{heading, number, written};
use crate::report::rows::{Row, ours_for, rows, times_better};
use crate::run::Record;

/// The table of `definition` for the terminal.
pub fn table(definition: &Definition, records: &[Record]) -> String {
    let rows = rows(definition, records);
    let [table, lists, remarks] =
        [table_of(definition, &rows), series(definition, &rows), remarks(definition, &rows)];
    format!("{}\n\n{table}{lists}{remarks}", definition.title)
}

/// One line a row: the figure that ranks, its range, ours against it, and the further figures.
pub fn table_of(definition: &Definition, rows: &[Row<'_>]) -> String {
    let figure = definition.figure.as_str();
    let keys: Vec<&String> =
        definition.columns.iter().filter(|key| rows.iter().any(|row| row.summary(key).is_some())).collect();
    let values = definition.expect.values;
    let compared = rows.iter().any(|row| row.engine.role == Role::Subject);
    let shuffled = rows.iter().any(|row| !row.info("shuffle").is_empty());
    let mut heads = vec!["engine".to_owned(), format!("**{}**", heading(figure)), "min to max".into()];
    heads.extend(compared.then(|| "tfrmap is".to_owned()));
    heads.extend(keys.iter().map(|key| heading(key).to_owned()));
    if values {
        heads.push("off reference: max, mean (allowed)".into());
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
            if compared {
                let better = definition.better == Better::Higher;
                let ours = ours_for(rows, row).and_then(|ours| ours.summary(figure));
                let times = ours
                    .zip(summary)
                    .filter(|_| !matches!(row.engine.role, Role::Subject | Role::Variant))
                    .map(|(ours, s)| format!("{}x", number(times_better(better, ours.median, s.median), 2)));
                cells.push(times.unwrap_or_default());
            }
            for key in &keys {
                cells.push(row.summary(key).map_or_else(String::new, |s| written(key, s.median)));
            }
            if values {
                cells.push(off_reference(row));
            }
            if shuffled {
                cells.push(row.info("shuffle").to_owned());
            }
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// How far sampled values are from the reference, and how far they may be.
fn off_reference(row: &Row<'_>) -> String {
    let (Some(off), Some(allowed)) = (row.distance(), row.engine.tolerance) else { return String::new() };
    let [max, mean] = [number(off.max, 2), number(off.mean, 3)];
    format!("{max}, {mean} ({}, {})", allowed.max, allowed.mean)
}

/// What a reader must know of the rows: noise, notes, versions, cache state.
pub fn remarks(definition: &Definition, rows: &[Row<'_>]) -> String {
    let mut out = String::new();
    let runs =
        rows.iter().filter_map(|row| row.summary(&definition.figure)).map(|s| s.runs).max().unwrap_or(0);
    let cache = match definition.cache {
        Cache::Warm if definition.cold_rows => {
            "warm page cache; cold rows after the files were dropped from it (checked)"
        }
        Cache::Warm => "warm page cache",
        Cache::Cold => "cold page cache (dropped and checked before each run)",
    };
    let settings: Vec<String> = definition.job.iter().map(|(key, value)| format!("{key} {value}")).collect();
    let reference = rows.iter().map(Row::reference).find(|r| !r.is_empty());
    let times = match runs {
        0 => "No run counts".to_owned(),
        1 => "One run of each".to_owned(),
        _ => format!("{runs} runs of each"),
    };
    let settings = if settings.is_empty() { String::new() } else { format!("; {}", settings.join(", ")) };
    let _ = write!(out, "\n{times}, {cache}{settings}.");
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
