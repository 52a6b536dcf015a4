//! Charts as SVG text: bars with their range, and lines. Readable on light and dark pages.

use std::fmt::Write;

use crate::report::figures::short;

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Ours.
    Subject,
    /// A peer.
    Peer,
    /// A bound.
    Floor,
}

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Text at its left.
    pub label: String,
    /// Length.
    pub value: f64,
    /// Range of the runs.
    pub range: (f64, f64),
    /// Colour.
    pub tone: Tone,
    /// The number at its right.
    pub text: String,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Line {
    /// Text in the legend.
    pub label: String,
    /// Points.
    pub points: Vec<(f64, f64)>,
    /// Colour.
    pub tone: Tone,
}

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600}.s{fill:#59636e;font-size:12px}\
.subject{fill:#0a7d55;stroke:#0a7d55}.peer{fill:#8c959f;stroke:#8c959f}.floor{fill:#c9a227;stroke:#c9a227}.bar{stroke:none}\
.line{fill:none;stroke-width:2}.a{stroke:#59636e}.w{stroke:#1f2328}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.s{fill:#9198a1}.a{stroke:#9198a1}.w{stroke:#f0f6fc}.subject{fill:#2fbf8a;stroke:#2fbf8a}}";

const WIDTH: f64 = 760.0;

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Subject => "subject",
        Tone::Peer => "peer",
        Tone::Floor => "floor",
    }
}

/// Text for an SVG file; the marks of code in Markdown are left out.
fn escape(text: &str) -> String {
    text.replace('`', "")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn head(title: &str, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n<text class=\"t\" x=\"8\" y=\"20\">{title}</text>\n"
    )
}

/// A chart of horizontal bars from zero, each with its median written and its range drawn.
pub fn bars(title: &str, subtitle: &str, bars: &[Bar]) -> String {
    const RIGHT: f64 = 90.0;
    const STEP: f64 = 26.0;
    // Room for the longest label, at the width of a wide font's letters.
    let letters = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let left = (letters as f64 * 7.4 + 24.0).max(120.0);
    let height = 56.0 + STEP * bars.len() as f64;
    let largest = bars.iter().map(|b| b.range.1.max(b.value)).fold(0.0, f64::max);
    let scale = if largest > 0.0 { (WIDTH - left - RIGHT) / largest } else { 0.0 };
    let mut out = head(title, height);
    let _ = writeln!(out, "<text class=\"s\" x=\"8\" y=\"38\">{}</text>", escape(subtitle));
    for (i, bar) in bars.iter().enumerate() {
        let y = 50.0 + STEP * i as f64;
        let middle = y + 9.0;
        let (x1, x2) = (left + bar.range.0 * scale, left + bar.range.1 * scale);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar {}\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"18\" rx=\"2\"/>\
             <path class=\"w\" d=\"M{x1:.1} {middle:.1}H{x2:.1}M{x1:.1} {:.1}v8M{x2:.1} {:.1}v8\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            y + 13.5,
            escape(&bar.label),
            class(bar.tone),
            bar.value * scale,
            middle - 4.0,
            middle - 4.0,
            x2.max(left + bar.value * scale) + 6.0,
            y + 13.5,
            escape(&bar.text),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// A chart of lines over `x`; with `log` both axes are logarithmic, over whole decades.
pub fn lines(title: &str, x_name: &str, y_name: &str, log: bool, lines: &[Line]) -> String {
    const LEFT: f64 = 64.0;
    const TOP: f64 = 52.0;
    const BOTTOM: f64 = 46.0;
    let legend = 20.0 * lines.len() as f64;
    let height = TOP + 220.0 + BOTTOM + legend;
    let axis = |value: f64| if log { value.max(1e-6).log10() } else { value };
    let points = || lines.iter().flat_map(|l| l.points.iter());
    let range = |of: fn(&(f64, f64)) -> f64, from_zero: bool| {
        let low = points().map(|p| axis(of(p))).fold(f64::INFINITY, f64::min);
        let high = points().map(|p| axis(of(p))).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match (log, from_zero) {
            (true, _) => (low.floor(), high.ceil()),
            (false, true) => (low.min(0.0), high),
            (false, false) => (low, high),
        };
        if high > low { (low, high) } else { (low - 0.5, high + 0.5) }
    };
    let ((x0, x1), (y0, y1)) = (range(|p| p.0, false), range(|p| p.1, true));
    let x_at = |x: f64| LEFT + (axis(x) - x0) / (x1 - x0) * (WIDTH - LEFT - 30.0);
    let y_at = |y: f64| TOP + 220.0 - (axis(y) - y0) / (y1 - y0) * 220.0;
    let value = |at: f64| if log { 10f64.powf(at) } else { at };
    let mut out = head(title, height);
    let _ = writeln!(out, "<text class=\"s\" x=\"8\" y=\"40\">{}</text>", escape(y_name));
    let _ = writeln!(
        out,
        "<path class=\"a\" fill=\"none\" d=\"M{LEFT} {TOP}V{}H{}\"/>",
        TOP + 220.0,
        WIDTH - 30.0
    );
    // Decades, or multiples of 1, 2 or 5 times a power of ten.
    let ticks = |low: f64, high: f64| {
        let raw = (high - low) / 4.0;
        let power = 10f64.powf(raw.log10().floor());
        let step =
            if log { 1.0 } else { power * [5.0, 2.0].into_iter().find(|m| m * power <= raw).unwrap_or(1.0) };
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        (first..=last.min(first + 12)).map(move |i| value(i as f64 * step))
    };
    for x in ticks(x0, x1) {
        let (at, y) = (x_at(x), TOP + 236.0);
        let anchor = if at > WIDTH - 60.0 { "end" } else { "middle" };
        let _ = writeln!(
            out,
            "<text class=\"s\" x=\"{at:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            short(x)
        );
    }
    for y in ticks(y0, y1) {
        let (x, at) = (LEFT - 6.0, y_at(y) + 4.0);
        let _ = writeln!(
            out,
            "<text class=\"s\" x=\"{x}\" y=\"{at:.1}\" text-anchor=\"end\">{}</text>",
            short(y)
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        WIDTH / 2.0,
        TOP + 254.0,
        escape(x_name)
    );
    for (i, line) in lines.iter().enumerate() {
        let dash = ["", "7 4", "2 3", "9 3 2 3"][i % 4];
        let path: Vec<String> =
            line.points.iter().map(|(x, y)| format!("{:.1} {:.1}", x_at(*x), y_at(*y))).collect();
        let y = TOP + 270.0 + 20.0 * i as f64;
        let tone = class(line.tone);
        let _ = writeln!(
            out,
            "<path class=\"{tone} line\" style=\"fill:none\" stroke-dasharray=\"{dash}\" d=\"M{}\"/>\
             <path class=\"{tone} line\" style=\"fill:none\" stroke-dasharray=\"{dash}\" d=\"M{LEFT} {y:.1}h40\"/>\
             <text x=\"{}\" y=\"{:.1}\">{}</text>",
            path.join("L"),
            LEFT + 48.0,
            y + 4.0,
            escape(&line.label),
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_nothing_is_nan() {
        let bar = Bar {
            label: "a<b & \"c\"".into(),
            value: 0.0,
            range: (0.0, 0.0),
            tone: Tone::Peer,
            text: "0".into(),
        };
        let chart = bars("t", "s", &[bar]);
        assert!(chart.contains("a&lt;b &amp; &quot;c&quot;") && !chart.contains("NaN"));
        let flat = Line { label: "l".into(), points: vec![(1.0, 5.0)], tone: Tone::Subject };
        let chart = lines("t", "x", "y", true, &[flat]);
        assert!(!chart.contains("NaN") && !chart.contains("inf"));
    }
}
