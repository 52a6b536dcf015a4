//! The experiment's picture: accuracy by epoch as an SVG, a line for the mean over the seeds in a band from the least to the most.

use std::fmt::Write;

/// A line of the chart.
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// Of each epoch the accuracies in percent, one a seed.
    pub epochs: Vec<Vec<f64>>,
}

/// The least, the mean and the most.
pub fn summary(values: &[f64]) -> (f64, f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least, values.iter().sum::<f64>() / values.len() as f64, most)
}

const COLORS: [&str; 4] = ["#b04a3a", "#d08a1e", "#3a7ab0", "#2d7d46"];
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;

/// The SVG. The vertical axis is the whole range from 0 to 100 %.
pub fn draw(title: &str, lines: &[Line]) -> String {
    let epochs = lines.iter().map(|line| line.epochs.len()).max().unwrap_or(1).max(2);
    let x = |epoch: usize| LEFT + (WIDTH - LEFT - RIGHT) * epoch as f64 / (epochs - 1) as f64;
    let y = |percent: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * percent / 100.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"#333\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"15\">{title}</text>\n"
    );
    let right = WIDTH - RIGHT;
    for percent in (0..=100).step_by(20) {
        let at = y(f64::from(percent));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{percent} %</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for epoch in 0..epochs {
        let (x, y) = (x(epoch), HEIGHT - BOTTOM + 20.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", epoch + 1);
    }
    let middle = (LEFT + right) / 2.0;
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">epoch</text>", HEIGHT - 10.0);
    for (line, color) in lines.iter().zip(COLORS.iter().cycle()) {
        let rows: Vec<_> = line.epochs.iter().map(|values| summary(values)).collect();
        let upper = rows.iter().enumerate().map(|(epoch, row)| (x(epoch), y(row.2)));
        let lower = rows.iter().enumerate().rev().map(|(epoch, row)| (x(epoch), y(row.0)));
        let mean = rows.iter().enumerate().map(|(epoch, row)| (x(epoch), y(row.1)));
        let _ = writeln!(
            svg,
            "<polygon points=\"{}\" fill=\"{color}\" opacity=\"0.18\"/>",
            points(upper.chain(lower))
        );
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2.5\"/>",
            points(mean)
        );
    }
    for (i, (line, color)) in lines.iter().zip(COLORS.iter().cycle()).enumerate() {
        let (x, y) = (right + 20.0, TOP + 24.0 * i as f64);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}h22\" stroke=\"{color}\" stroke-width=\"4\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 30.0,
            y + 4.0,
            line.name
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn points(points: impl Iterator<Item = (f64, f64)>) -> String {
    points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}
