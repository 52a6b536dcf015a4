//! What `pack` packs: pictures and their classes, from a folder for each class or from a CSV.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// A picture to pack.
pub struct Item {
    /// Where it is.
    pub path: PathBuf,
    /// The number of its class.
    pub label: i64,
    /// The name of its class; empty where only numbers are known.
    pub class: String,
}

/// Pictures in order, and the names of the classes by number.
pub struct Collection {
    /// The pictures.
    pub items: Vec<Item>,
    /// The classes in ascending order of their numbers.
    pub classes: Vec<(i64, String)>,
    /// Files beside the class folders, which belong to no class.
    pub stray: Vec<PathBuf>,
}

/// How deep folders may nest within a class: links can lead in circles.
const DEPTH: usize = 32;

/// A class for each folder of `root`, numbered from 0 in the order of their names' bytes.
pub fn from_folders(root: &Path) -> Result<Collection> {
    let mut collection = Collection { items: Vec::new(), classes: Vec::new(), stray: Vec::new() };
    for path in children(root)? {
        if path.is_dir() {
            let class = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let label = collection.classes.len() as i64;
            let mut files = Vec::new();
            walk(&path, DEPTH, &mut files)?;
            collection.items.extend(files.into_iter().map(|path| Item { path, label, class: class.clone() }));
            collection.classes.push((label, class));
        } else {
            collection.stray.push(path);
        }
    }
    if collection.classes.is_empty() {
        return Err(Failure::usage(format!(
            "{}: there is no folder in it; make one for each class, or give --labels a CSV of path,label",
            root.display()
        )));
    }
    Ok(collection)
}

/// What is in a folder, in the order of the names' bytes; hidden names are left out.
fn children(folder: &Path) -> Result<Vec<PathBuf>> {
    let at = |error| Failure::io(folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    if depth == 0 {
        return Err(Failure::usage(format!(
            "{}: folders nest too deeply (a link in a circle?)",
            folder.display()
        )));
    }
    for path in children(folder)? {
        if path.is_dir() {
            walk(&path, depth - 1, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The rows `path,label` of a CSV; paths are relative to `root`. Labels are numbers, or names that are numbered from 0
/// in ascending order.
pub fn from_csv(root: &Path, csv: &Path) -> Result<Collection> {
    let text = fs::read_to_string(csv).map_err(|error| Failure::io(csv, error))?;
    let mut rows: Vec<(PathBuf, String)> = Vec::new();
    for (number, fields) in parse_csv(&text) {
        match &fields[..] {
            [path, label, ..] if rows.is_empty() && is_heading(root, path, label) => {}
            [path, label, ..] if !path.is_empty() && !label.is_empty() => {
                rows.push((root.join(path), label.clone()));
            }
            _ => {
                return Err(Failure::usage(format!(
                    "{}: line {number}: a row is a path and a label, split by a comma",
                    csv.display()
                )));
            }
        }
    }
    let is_number = |label: &str| label.parse::<i64>().is_ok();
    // One slip among numbers would make names of them all, and number them anew.
    if let Some((_, name)) = rows.iter().find(|(_, label)| !is_number(label))
        && let Some((_, number)) = rows.iter().find(|(_, label)| is_number(label))
    {
        return Err(Failure::usage(format!(
            "{}: the label {number:?} is a number and {name:?} is none; give numbers of 64 bits, or names that are no \
             numbers",
            csv.display()
        )));
    }
    let numbers: Option<Vec<i64>> = rows.iter().map(|(_, label)| label.parse().ok()).collect();
    let (classes, items) = match numbers {
        Some(numbers) => {
            let classes: BTreeSet<i64> = numbers.iter().copied().collect();
            let items = rows
                .into_iter()
                .zip(numbers)
                .map(|((path, _), label)| Item { path, label, class: String::new() })
                .collect();
            (classes.into_iter().map(|number| (number, String::new())).collect(), items)
        }
        None => {
            let names: BTreeSet<String> = rows.iter().map(|(_, label)| label.clone()).collect();
            let names: Vec<String> = names.into_iter().collect();
            let number = |class: &String| names.binary_search(class).map_or(0, |number| number as i64);
            let items =
                rows.into_iter().map(|(path, class)| Item { path, label: number(&class), class }).collect();
            ((0..).zip(names.clone()).collect(), items)
        }
    };
    Ok(Collection { items, classes, stray: Vec::new() })
}

/// The first row is a heading where it names no file and its label looks like a word for one.
fn is_heading(root: &Path, path: &str, label: &str) -> bool {
    const WORDS: [&str; 5] = ["label", "class", "category", "target", "y"];
    WORDS.contains(&label.to_lowercase().as_str()) && !root.join(path).exists()
}

/// Rows of fields with the number of the line they begin on; fields may be quoted, quotes in them are doubled.
fn parse_csv(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut rows = Vec::new();
    let mut fields = vec![String::new()];
    let (mut line, mut begun, mut quoted) = (1, 1, false);
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    let mut end_row = |fields: &mut Vec<String>, begun: usize| {
        let row = std::mem::replace(fields, vec![String::new()]);
        let row: Vec<String> = row.into_iter().map(|field| field.trim().to_owned()).collect();
        if row.iter().any(|field| !field.is_empty()) {
            rows.push((begun, row));
        }
    };
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        let last = fields.len() - 1;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields[last].push('"');
            }
            '"' if quoted || fields[last].trim().is_empty() => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            '\n' if !quoted => {
                end_row(&mut fields, begun);
                begun = line;
            }
            _ => fields[last].push(c),
        }
    }
    end_row(&mut fields, begun);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_csv() {
        let rows = parse_csv("\u{feff}a.jpg,1\r\n\n\"b, c.jpg\", \"say \"\"cat\"\"\"\nd.jpg,x,more\n");
        let fields: Vec<Vec<String>> = rows.into_iter().map(|(_, fields)| fields).collect();
        assert_eq!(fields, [vec!["a.jpg", "1"], vec!["b, c.jpg", "say \"cat\""], vec!["d.jpg", "x", "more"]]);
    }
}
