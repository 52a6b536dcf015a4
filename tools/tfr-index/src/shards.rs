//! The files of an output: one, or `PREFIX-00000-of-0000N`, filled one after the other so that the order is kept.

use std::path::{Path, PathBuf};

use tfrmap::DatasetWriter;

use crate::failure::{Failure, Result};

/// More files than this are a slip of the finger.
const MOST: usize = 1_000_000;

/// The names of the files.
pub fn names(prefix: &Path, shards: usize) -> Result<Vec<PathBuf>> {
    if shards == 0 || shards > MOST {
        return Err(Failure::usage(format!("--shards {shards}: give a number from 1 to {MOST}")));
    }
    let Some(name) = prefix.file_name() else {
        return Err(Failure::usage(format!("{}: name a file", prefix.display())));
    };
    if shards == 1 {
        return Ok(vec![prefix.to_owned()]);
    }
    let shard = |number: usize| {
        let mut name = name.to_owned();
        name.push(format!("-{number:05}-of-{shards:05}"));
        prefix.with_file_name(name)
    };
    Ok((0..shards).map(shard).collect())
}

/// A writer of the files.
pub fn create(prefix: &Path, shards: usize, force: bool) -> Result<DatasetWriter> {
    Ok(match (shards, force) {
        (1, false) => DatasetWriter::create(prefix)?,
        (1, true) => DatasetWriter::overwrite(prefix)?,
        (n, false) => DatasetWriter::create_sharded(prefix, n)?,
        (n, true) => DatasetWriter::overwrite_sharded(prefix, n)?,
    })
}

/// The file that holds position `position` of `total`: whole runs, whose lengths differ by one at most.
pub fn of(position: u64, total: u64, shards: usize) -> usize {
    // The inverse of "file s begins at floor(s * total / shards)".
    let shards = shards as u128;
    ((u128::from(position) + 1) * shards).div_ceil(u128::from(total.max(1))).saturating_sub(1).min(shards - 1)
        as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_filled_evenly_and_in_order() {
        for (total, shards) in [(10, 3), (9, 3), (1, 4), (100, 7), (5, 1), (3, 3)] {
            let of: Vec<usize> = (0..total).map(|position| of(position, total, shards)).collect();
            assert!(of.is_sorted());
            let lens: Vec<usize> =
                (0..shards).map(|shard| of.iter().filter(|s| **s == shard).count()).collect();
            let (min, max) = (lens.iter().min().unwrap(), lens.iter().max().unwrap());
            assert!(max - min <= 1, "{total} in {shards}: {lens:?}");
        }
    }

    #[test]
    fn names_follow_the_usual_pattern() {
        let names = names(Path::new("a/train"), 2).unwrap();
        assert_eq!(names, [Path::new("a/train-00000-of-00002"), Path::new("a/train-00001-of-00002")]);
        assert!(super::names(Path::new("x"), 0).is_err());
    }
}
