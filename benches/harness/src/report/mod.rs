//! docs/benchmarks.md and its charts, from the results. Nothing in them is typed by hand.

mod charts;
mod document;
mod figures;
mod losses;
mod rows;
mod svg;
mod table;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Failure;
use crate::definition::Definition;
use crate::run::Record;

pub use table::table;

/// Results of the latest run of each definition.
#[derive(Debug, Default)]
pub struct Results {
    records: Vec<Record>,
    environments: Vec<(u64, Value)>,
}

impl Results {
    /// Reads JSON lines.
    ///
    /// # Errors
    /// A line that is no JSON, with its number.
    pub fn parse(text: &str) -> Result<Results, Failure> {
        let mut results = Results::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Value = serde_json::from_str(line)
                .map_err(|e| Failure::new(format!("results, line {}: {e}", number + 1)))?;
            if let (Some("environment"), Some(run)) = (line["kind"].as_str(), line["run"].as_u64()) {
                results.environments.push((run, line["environment"].clone()));
            } else if let Some(record) = Record::from_json(&line) {
                results.records.push(record);
            }
        }
        Ok(results)
    }

    /// The records of the latest run of `definition`, and where it ran.
    fn latest(&self, definition: &Definition) -> Option<(Vec<Record>, &Value)> {
        let of_definition = || self.records.iter().filter(|r| r.definition == definition.name);
        let run = of_definition().map(|r| r.run).max()?;
        let environment = self.environments.iter().find(|(number, _)| *number == run);
        let records = of_definition().filter(|r| r.run == run).cloned().collect();
        Some((records, environment.map_or(&Value::Null, |(_, environment)| environment)))
    }
}

/// Writes `docs/benchmarks.md`, `docs/img/bench-*.svg`, and the marked part of `readme`.
///
/// # Errors
/// No results, or a file that cannot be written.
pub fn write(
    definitions: &[Definition],
    results: &Path,
    docs: &Path,
    readme: Option<&Path>,
) -> Result<(), Failure> {
    let text = fs::read_to_string(results).map_err(|e| Failure::io(results, &e))?;
    let results = Results::parse(&text)?;
    let document = document::write(definitions, &results)?;
    let images = docs.join("img");
    fs::create_dir_all(&images).map_err(|e| Failure::io(&images, &e))?;
    for (name, chart) in &document.charts {
        save(&images.join(name), chart)?;
    }
    save(&docs.join("benchmarks.md"), &document.text)?;
    if let Some(readme) = readme {
        let old = fs::read_to_string(readme).map_err(|e| Failure::io(readme, &e))?;
        save(readme, &replace_marked(&old, &document.summary).map_err(Failure::new)?)?;
    }
    Ok(())
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    println!("{}", path.display());
    fs::write(path, text).map_err(|e| Failure::io(path, &e))
}

const BEGIN: &str = "<!-- benchmarks: written by tfrmap-bench report -->";
const END: &str = "<!-- /benchmarks -->";

/// `text` with what stands between the marks replaced by `part`.
fn replace_marked(text: &str, part: &str) -> Result<String, String> {
    let marks = || format!("the file needs the lines {BEGIN} and {END}");
    let (before, rest) = text.split_once(BEGIN).ok_or_else(marks)?;
    let (_, after) = rest.split_once(END).ok_or_else(marks)?;
    Ok(format!("{before}{BEGIN}\n{part}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_is_replaced() {
        let old = format!("a\n{BEGIN}\nold\n{END}\nz\n");
        assert_eq!(replace_marked(&old, "new\n").unwrap(), format!("a\n{BEGIN}\nnew\n{END}\nz\n"));
        assert!(replace_marked("no marks", "new").is_err());
    }
}
