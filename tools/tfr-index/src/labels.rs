//! Names of classes: a labels file of lines `0:daisy` (as TensorFlow's slim writes it) or just names, from 0 on.

use std::collections::BTreeMap;
use std::path::Path;

use crate::failure::{Failure, Result};

/// Names by number.
#[derive(Default)]
pub struct Labels(BTreeMap<i64, String>);

impl Labels {
    /// Reads a labels file.
    pub fn read(path: &Path) -> Result<Labels> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
        Ok(Labels::parse(&text))
    }

    fn parse(text: &str) -> Labels {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let numbered = |line: &str| {
            let (number, name) = line.split_once(':')?;
            Some((number.trim().parse::<i64>().ok()?, name.trim().to_owned()))
        };
        let some = lines.iter().filter(|line| !line.is_empty());
        if some.clone().all(|line| numbered(line).is_some()) {
            return Labels(some.filter_map(|line| numbered(line)).collect());
        }
        Labels((0..).zip(lines.iter().map(|line| (*line).to_owned())).collect())
    }

    /// The name of a class.
    pub fn get(&self, number: i64) -> Option<&str> {
        self.0.get(&number).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let slim = Labels::parse("0:daisy\n7: rose: red\n\n");
        assert_eq!((slim.get(0), slim.get(7), slim.get(1)), (Some("daisy"), Some("rose: red"), None));
        let plain = Labels::parse("cat\n2:dog\nbird");
        assert_eq!((plain.get(1), plain.get(2)), (Some("2:dog"), Some("bird")));
    }
}
