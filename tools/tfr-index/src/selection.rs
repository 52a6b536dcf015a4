//! Which records: `--range A..B`, `--select 0,5,10..20` or a file of such, `--skip LIST.jsonl`.

use std::collections::{HashMap, HashSet};
use std::iter::once;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tfrmap::Order;

use crate::failure::{Failure, Result};

/// The arguments that choose records. Numbers count through all files in order, from 0.
#[derive(clap::Args, Clone, Default)]
pub struct Filter {
    /// Only records from A up to, but without, B; either end may be left out.
    #[arg(long, value_name = "A..B", value_parser = parse_range, conflicts_with = "select")]
    pub range: Option<(u64, Option<u64>)>,

    /// Only these records, in this order: `0,5,10..20`, or a file that holds such a list.
    #[arg(long, value_name = "LIST")]
    pub select: Option<String>,

    /// Leave out the records that a list of `verify --json` names.
    #[arg(long, value_name = "LIST.jsonl")]
    pub skip: Option<PathBuf>,
}

/// Parses `A..B`, `A..` or `..B` (B is not included); the open end is `None`.
fn parse_range(text: &str) -> Result<(u64, Option<u64>), String> {
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

/// Record numbers in the order they are wanted, as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    ranges: Vec<Range<u64>>,
    /// The position of each range's first record, and at the end the number of all.
    starts: Vec<u64>,
}

impl Selection {
    fn new(ranges: Vec<Range<u64>>) -> Selection {
        let mut total = 0u64;
        let mut starts = vec![0];
        for range in &ranges {
            total = total.saturating_add(range.end - range.start);
            starts.push(total);
        }
        Selection { ranges, starts }
    }

    /// What the filter leaves of a set of files with these numbers of records.
    pub fn of(filter: &Filter, skip: &SkipList, files: &[PathBuf], lens: &[u64]) -> Result<Selection> {
        let len: u64 = lens.iter().sum();
        let wanted: Vec<Range<u64>> = match (&filter.range, &filter.select) {
            (Some((start, end)), _) => {
                if *start > len || end.is_some_and(|end| end > len) {
                    return Err(Failure::usage(format!(
                        "--range {start}..{} goes beyond the last record: there are {len}",
                        end.map_or(String::new(), |end| end.to_string())
                    )));
                }
                once(*start..end.unwrap_or(len)).collect()
            }
            (None, Some(list)) => read_select(list, len)?,
            (None, None) => once(0..len).collect(),
        };
        let mut holes = skip.set.clone();
        let mut first = 0;
        let beyond = |record: u64, place: &Path, len: u64| {
            let place = place.display();
            Failure::usage(format!(
                "the list to skip names record {record} of {place}, but there are only {len}"
            ))
        };
        if let Some(record) = holes.iter().find(|record| **record >= len) {
            return Err(beyond(*record, Path::new("the set"), len));
        }
        for (file, len) in files.iter().zip(lens) {
            let records = skip.for_file(file);
            if let Some(last) = records.last().filter(|last| *last >= len) {
                return Err(beyond(*last, file, *len));
            }
            holes.extend(records.iter().map(|record| first + record));
            first += len;
        }
        holes.sort_unstable();
        holes.dedup();
        Ok(Selection::new(wanted.into_iter().flat_map(|range| without(range, &holes)).collect()))
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The global number of the record at a position below [`len`](Selection::len).
    pub fn at(&self, position: u64) -> u64 {
        let range = self.starts.partition_point(|start| *start <= position) - 1;
        self.ranges[range].start + (position - self.starts[range])
    }

    /// The numbers wanted of a file that holds these global numbers, counted within the file; for an ascending selection.
    pub fn within(&self, file: Range<u64>) -> Vec<Range<u64>> {
        let first = self.ranges.partition_point(|range| range.end <= file.start);
        self.ranges[first..]
            .iter()
            .take_while(|range| range.start < file.end)
            .map(|range| range.start.max(file.start) - file.start..range.end.min(file.end) - file.start)
            .collect()
    }

    /// True where the records come in the order of the files, each at most once.
    pub fn is_ascending(&self) -> bool {
        self.ranges.windows(2).all(|pair| pair[0].end <= pair[1].start)
    }
}

/// A range without the numbers in a sorted list.
fn without(range: Range<u64>, holes: &[u64]) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    let from = holes.partition_point(|hole| *hole < range.start);
    for &hole in holes[from..].iter().take_while(|hole| **hole < range.end) {
        if start < hole {
            parts.push(start..hole);
        }
        start = hole + 1;
    }
    if start < range.end {
        parts.push(start..range.end);
    }
    parts
}

/// Reads `0,5,10..20`, or the file of that name: numbers and ranges split by commas, spaces or lines; `#` begins a
/// comment.
fn read_select(text: &str, len: u64) -> Result<Vec<Range<u64>>> {
    let ranges = match parse_list(text, len) {
        Ok(ranges) => ranges,
        Err(reason) if !Path::new(text).exists() => {
            return Err(Failure::usage(format!(
                "--select {text}: {reason}; give a list such as 0,5,10..20, or a file that holds one"
            )));
        }
        Err(_) => {
            let path = Path::new(text);
            let content = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
            let lines: Vec<&str> = content.lines().map(|line| line.split('#').next().unwrap_or("")).collect();
            parse_list(&lines.join("\n"), len)
                .map_err(|reason| Failure::usage(format!("--select {text}: {reason}")))?
        }
    };
    match ranges.iter().find(|range| range.end > len) {
        Some(range) => {
            Err(Failure::usage(format!("--select names record {}, but there are only {len}", range.end - 1)))
        }
        None => Ok(ranges),
    }
}

fn parse_list(text: &str, len: u64) -> Result<Vec<Range<u64>>, String> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for word in text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()) {
        let range = if word.contains("..") {
            let (start, end) = parse_range(word)?;
            start..end.unwrap_or(len.max(start))
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
    Ok(ranges)
}

/// For each file the numbers within it of the records wanted, in the order in which they are visited.
pub fn numbers_by_file(
    filter: &Filter,
    files: &[PathBuf],
    lens: &[u64],
    shuffle: Option<(u64, u64)>,
) -> Result<Vec<Vec<u64>>> {
    let skip = SkipList::of(filter, files)?;
    let selection = Selection::of(filter, &skip, files, lens)?;
    let order = match shuffle {
        Some((seed, epoch)) => Order::shuffled(selection.len(), seed, epoch),
        None => Order::sequential(selection.len()),
    };
    let starts = starts(lens);
    let mut numbers = vec![Vec::new(); files.len()];
    for position in 0..selection.len() {
        let global = selection.at(order.at(position));
        let file = starts.partition_point(|start| *start <= global) - 1;
        numbers[file].push(global - starts[file]);
    }
    Ok(numbers)
}

/// The global number of each file's first record, and at the end the number of all.
pub fn starts(lens: &[u64]) -> Vec<u64> {
    let mut total = 0;
    once(0)
        .chain(lens.iter().map(|len| {
            total += len;
            total
        }))
        .collect()
}

/// Records to leave out, as a list of `verify --json` names them.
#[derive(Default)]
pub struct SkipList {
    /// By the path as it is written, and by the real one.
    files: HashMap<PathBuf, Vec<u64>>,
    real: HashMap<PathBuf, Vec<u64>>,
    /// Numbers that count over the whole set.
    set: Vec<u64>,
    lines: Vec<Value>,
}

impl SkipList {
    /// The list that a filter names. A file in it that is not among `files` is an error: most likely the wrong list.
    pub fn of(filter: &Filter, files: &[PathBuf]) -> Result<SkipList> {
        let Some(path) = &filter.skip else { return Ok(SkipList::default()) };
        let list = SkipList::read(path)?;
        match list.stranger(files) {
            Some(stranger) => Err(Failure::usage(format!(
                "{} names {}, which is not among the inputs",
                path.display(),
                stranger.display()
            ))),
            None => Ok(list),
        }
    }

    /// Reads the lines that `verify --json` prints. Lines without a record (summaries, problems of a whole file) are
    /// passed over, as is a record that was named before; a bare number is a record of the whole set.
    fn read(path: &Path) -> Result<SkipList> {
        let content = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
        let mut list = SkipList::default();
        let mut named = HashSet::new();
        for (number, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let bad = |what: &str| Failure::usage(format!("{}: line {}: {what}", path.display(), number + 1));
            let line: Value = serde_json::from_str(line).map_err(|error| bad(&error.to_string()))?;
            let (file, record) = match (line.as_u64(), line["path"].as_str(), &line["record"]) {
                (Some(record), ..) => (None, record),
                (None, _, Value::Null) if line.is_object() => continue,
                (None, Some(file), record) if record.is_u64() => {
                    (Some(PathBuf::from(file)), record.as_u64().unwrap_or_default())
                }
                _ => return Err(bad("neither a line of `verify --json` nor a record number")),
            };
            if !named.insert((file.clone(), record)) {
                continue;
            }
            match file {
                Some(file) => list.files.entry(file).or_default().push(record),
                None => list.set.push(record),
            }
            list.lines.push(line);
        }
        for (file, records) in &list.files {
            if let Ok(real) = file.canonicalize() {
                list.real.entry(real).or_default().extend(records);
            }
        }
        list.files.values_mut().chain(list.real.values_mut()).for_each(|records| records.sort_unstable());
        Ok(list)
    }

    /// The numbers within one file, in ascending order.
    pub fn for_file(&self, file: &Path) -> &[u64] {
        let real = || file.canonicalize().ok().and_then(|real| self.real.get(&real));
        let found = if self.files.is_empty() { None } else { real().or_else(|| self.files.get(file)) };
        found.map_or(&[], Vec::as_slice)
    }

    /// The lines of the list that name a record.
    pub fn lines(&self) -> &[Value] {
        &self.lines
    }

    /// True where the list names this record of this file.
    pub fn names(&self, file: &Path, record: u64) -> bool {
        self.for_file(file).binary_search(&record).is_ok()
    }

    fn stranger(&self, files: &[PathBuf]) -> Option<&Path> {
        if self.files.is_empty() {
            return None;
        }
        let real: HashSet<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        let known = |path: &Path| {
            path.canonicalize().map_or_else(|_| files.iter().any(|f| f == path), |p| real.contains(&p))
        };
        self.files.keys().map(PathBuf::as_path).filter(|path| !known(path)).min()
    }
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
    fn lists_keep_their_order() {
        assert_eq!(read_select("9,3..5,5, 1", 10).unwrap(), [9..10, 3..6, 1..2]);
        assert_eq!(read_select("1,8..", 10).unwrap(), [1..2, 8..10]);
        assert!(read_select("10", 10).is_err());
        assert!(read_select("11..", 10).is_ok_and(|ranges| ranges.is_empty()));
        assert!(read_select("a", 10).is_err());
    }

    #[test]
    fn positions_lead_through_ranges_and_holes() {
        let ranges = [9..10, 3..8].into_iter().flat_map(|range| without(range, &[0, 4, 5, 9])).collect();
        let selection = Selection::new(ranges);
        assert_eq!((0..selection.len()).map(|p| selection.at(p)).collect::<Vec<_>>(), [3, 6, 7]);
        assert!(selection.is_ascending());
        assert!(!Selection::new(vec![5..6, 5..6]).is_ascending());
        assert!(!Selection::new(vec![5..6, 1..2]).is_ascending());
    }
}
