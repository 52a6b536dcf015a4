//! The chart of a definition: bars, or lines where engines report lists.

use std::fmt::Write;

use crate::definition::{Better, Definition, Plot, Role};
use crate::report::figures::{heading, number, short, written};
use crate::report::rows::Row;
use crate::report::svg::{self, Bar, Line, Tone};

/// The lists that the chart is drawn from, and those beside them, as a table.
pub fn series(definition: &Definition, rows: &[Row<'_>]) -> String {
    let Some(plot) = &definition.chart else { return String::new() };
    let good: Vec<&Row<'_>> = rows.iter().filter(|row| row.failed().is_none()).collect();
    let xs = good.iter().map(|row| points_of(plot, row)).max_by_key(Vec::len).unwrap_or_default();
    if xs.is_empty() {
        return String::new();
    }
    let heads: Vec<String> = xs.iter().map(|(x, _)| number(*x, 0)).collect();
    let mut out =
        format!("\n| {} | {} |\n|---|{}\n", plot.x_name, heads.join(" | "), "--:|".repeat(xs.len()));
    for row in good {
        for key in std::iter::once(&plot.y).chain(&plot.beside) {
            let name = if *key == plot.y { plot.y_name.as_str() } else { heading(key) };
            let cells: Vec<String> = row.series(key).into_iter().map(short).collect();
            let _ = writeln!(out, "| {}, {name} | {} |", row.engine.name, cells.join(" | "));
        }
    }
    out
}

fn points_of(plot: &Plot, row: &Row<'_>) -> Vec<(f64, f64)> {
    let ys = row.series(&plot.y);
    let xs = plot.x.as_ref().map(|x| row.series(x));
    let xs = xs.unwrap_or_else(|| (1..=ys.len()).map(|i| i as f64).collect());
    xs.into_iter().zip(ys).collect()
}

fn tone(role: Role) -> Tone {
    match role {
        Role::Subject | Role::Variant => Tone::Subject,
        Role::Peer => Tone::Peer,
        Role::Floor => Tone::Floor,
    }
}

/// The SVG text; `None` when there is nothing to compare.
pub fn chart(definition: &Definition, rows: &[Row<'_>]) -> Option<String> {
    let good = || rows.iter().filter(|row| row.failed().is_none());
    if let Some(plot) = &definition.chart {
        let lines: Vec<Line> = good()
            .map(|row| Line {
                label: row.engine.name.clone(),
                points: points_of(plot, row),
                tone: tone(row.engine.role),
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
                text: written(key, summary.median),
            })
        })
        .collect();
    let way = if definition.better == Better::Higher { "more is better" } else { "less is better" };
    (bars.len() > 1).then(|| svg::bars(&definition.title, &format!("{}, {way}", heading(key)), &bars))
}
