//! Lists of record numbers: `--range A..B`, `--select 0,5,10..20` or a file, `--skip LIST.jsonl`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Failure, Result};

/// Parses `A..B`, `A..` or `..B` (B is not included); the open end is `None`.
pub fn parse_range(text: &str) -> Result<(u64, Option<u64>), String> {
    let (start, end) =
        text.split_once("..").ok_or("write it as A..B: from record A up to, but without, B")?;
    let number =
        |part: &str| part.trim().parse::<u64>().map_err(|_| format!("{part:?} is not a record number"));
    let start = if start.trim().is_empty() { 0 } else { number(start)? };
    let end = if end.trim().is_empty() { None } else { Some(number(end)?) };
    if end.is_some_and(|end| end < start) {
        return Err(format!("{text} ends before it begins"));
    }
    Ok((start, end))
}

/// Record numbers in the order of a list, ranges kept as ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(pub Vec<Range<u64>>);

impl Selection {
    /// Reads `0,5,10..20`, or the file of that name: numbers and ranges split by commas, spaces or lines, `#` begins
    /// a comment.
    pub fn read(text: &str, len: u64) -> Result<Selection> {
        let parsed = match Selection::parse(text, len) {
            Ok(selection) => Ok(selection),
            Err(reason) if !Path::new(text).exists() => Err(Failure::usage(format!(
                "--select {text}: {reason}; give a list such as 0,5,10..20, or a file that holds one"
            ))),
            Err(_) => {
                let path = Path::new(text);
                let content = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
                let lines: Vec<&str> =
                    content.lines().map(|line| line.split('#').next().unwrap_or("")).collect();
                Selection::parse(&lines.join("\n"), len)
                    .map_err(|reason| Failure::usage(format!("--select {text}: {reason}")))
            }
        }?;
        match parsed.0.iter().find(|range| range.end > len) {
            Some(range) => Err(Failure::usage(format!(
                "--select names record {}, but there are only {len}",
                range.end - 1
            ))),
            None => Ok(parsed),
        }
    }

    fn parse(text: &str, len: u64) -> Result<Selection, String> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for word in text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()) {
            let range = if word.contains("..") {
                let (start, end) = parse_range(word)?;
                start..end.unwrap_or(len)
            } else {
                let number: u64 = word.parse().map_err(|_| format!("{word:?} is not a record number"))?;
                number..number.checked_add(1).ok_or_else(|| format!("{word} is too large"))?
            };
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ if range.is_empty() => {}
                _ => ranges.push(range),
            }
        }
        Ok(Selection(ranges))
    }
}

/// Records to leave out, as a list of `verify --json` names them.
pub struct SkipList {
    entries: Vec<SkipEntry>,
}

struct SkipEntry {
    path: Option<PathBuf>,
    record: u64,
}

impl SkipList {
    /// Reads the lines that `verify --json` prints. Lines without a record (summaries, problems of a whole file) are
    /// passed over; a bare number is a record of the whole set.
    pub fn read(path: &Path) -> Result<SkipList> {
        let content = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
        let mut entries = Vec::new();
        for (number, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value: Value = serde_json::from_str(line).map_err(|error| {
                Failure::usage(format!("{}: line {}: {error}", path.display(), number + 1))
            })?;
            if let Some(record) = value.as_u64() {
                entries.push(SkipEntry { path: None, record });
            } else if let (Some(file), Some(record)) = (value["path"].as_str(), value["record"].as_u64()) {
                entries.push(SkipEntry { path: Some(file.into()), record });
            } else if !value.is_object() {
                return Err(Failure::usage(format!(
                    "{}: line {}: neither a line of `verify --json` nor a record number",
                    path.display(),
                    number + 1
                )));
            }
        }
        Ok(SkipList { entries })
    }

    /// The numbers within one file, and the numbers within the whole set: sorted, each once.
    pub fn for_file(&self, file: &Path) -> Vec<u64> {
        let real = file.canonicalize().ok();
        let same = |named: &Path| named == file || (real.is_some() && named.canonicalize().ok() == real);
        sorted(self.entries.iter().filter(|e| e.path.as_deref().is_some_and(same)).map(|e| e.record))
    }

    /// The numbers that count over the whole set: sorted, each once.
    pub fn for_set(&self) -> Vec<u64> {
        sorted(self.entries.iter().filter(|e| e.path.is_none()).map(|e| e.record))
    }

    /// Files that are named but not among `files`.
    pub fn strangers(&self, files: &[PathBuf]) -> Vec<&Path> {
        let real: Vec<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        let mut strangers: Vec<&Path> = self
            .entries
            .iter()
            .filter_map(|entry| entry.path.as_deref())
            .filter(|path| !files.iter().any(|file| file == path))
            .filter(|path| path.canonicalize().ok().is_none_or(|path| !real.contains(&path)))
            .collect();
        strangers.sort_unstable();
        strangers.dedup();
        strangers
    }
}

fn sorted(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(parse_range("3..7"), Ok((3, Some(7))));
        assert_eq!(parse_range(".."), Ok((0, None)));
        assert_eq!(parse_range("5.."), Ok((5, None)));
        assert!(parse_range("7..3").is_err());
        assert!(parse_range("7").is_err());
        assert!(parse_range("-1..3").is_err());
    }

    #[test]
    fn selections_keep_their_order() {
        assert_eq!(Selection::read("9,3..5,5, 1", 10).unwrap().0, [9..10, 3..6, 1..2]);
        assert_eq!(Selection::read("8..", 10).unwrap().0, [8..10]);
        assert!(Selection::read("10", 10).is_err());
        assert!(Selection::read("a", 10).is_err());
    }
}
