//! From a path, a folder or a pattern to data files in one order.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::record::OpenOptions;

use super::names::{self, Numbered};
use super::pattern::Pattern;

impl OpenOptions {
    /// The data files that a path means, in order, as [`Dataset::open`](crate::Dataset::open) takes it. No file is opened.
    ///
    /// A path that exists is literal: a file (nothing beside it is looked at), or a folder with one set of files in it.
    /// Else it is a pattern (`*`, `?`, `[..]`, `{a,b}`), or the prefix of a `-00000-of-00004` set. Files that are never
    /// data (`_SUCCESS`, `.crc`, ...) are left out. Files come in natural order: runs of digits by value, ties by bytes.
    ///
    /// # Errors
    /// `Io` where nothing is there or cannot be looked at; `MissingShard` where files of a `-of-` set are missing, unless
    /// [that is allowed](OpenOptions::allow_missing_shards); `ShardSetConflict` where a folder holds several sets, or a
    /// set of two generations.
    pub fn files(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        resolve(path.as_ref(), self.get_allow_missing_shards())
    }
}

fn resolve(path: &Path, allow_missing_shards: bool) -> Result<Vec<PathBuf>> {
    let (files, wanted) = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let files = in_folder(path)?;
            only_set(path, &files)?;
            (files, None)
        }
        Ok(_) => return Ok(vec![path.to_path_buf()]),
        Err(error) if !is_absence(&error) => return Err(Error::io(path, error)),
        Err(error) => {
            let pattern = Pattern::parse(path)?;
            let files = without_strays(pattern.as_ref().map_or(Ok(Vec::new()), Pattern::expand)?);
            if files.is_empty() {
                (with_prefix(path).map_err(|_| absent(path, pattern.is_some(), error))?, None)
            } else {
                (files, pattern)
            }
        }
    };
    check_sets(&files, wanted.as_ref(), allow_missing_shards)?;
    let mut files = without_doubles(files);
    files.sort_by(|a, b| names::natural(a.as_os_str(), b.as_os_str()));
    Ok(files)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

fn absent(path: &Path, is_pattern: bool, error: io::Error) -> Error {
    if is_pattern {
        let kind = ErrorKind::Io(io::ErrorKind::NotFound);
        return Error::new(kind, "no data file matches the pattern, and there is none of this name")
            .at_path(path);
    }
    Error::io(path, error)
}

/// The files of a folder that can be data. Where some have names that are known for TFRecord, only those.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let at = |error| Error::io(folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?;
        if names::is_stray(&entry.file_name()) {
            continue;
        }
        // A link counts as what it leads to; one that leads nowhere is an error later, by name.
        let path = entry.path();
        let is_folder = fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder {
            files.push(path);
        }
    }
    let known = |path: &PathBuf| path.file_name().is_some_and(names::is_known);
    if files.iter().any(known) {
        let (data, others): (Vec<_>, Vec<_>) = files.into_iter().partition(known);
        others
            .iter()
            .for_each(|path| log::debug!("{}: left out, not named as a TFRecord file", path.display()));
        files = data;
    }
    if files.is_empty() {
        let kind = ErrorKind::Io(io::ErrorKind::NotFound);
        return Err(Error::new(kind, "the folder holds no data file").at_path(folder));
    }
    Ok(files)
}

/// Strays that a pattern hit are left out and named; where it hit nothing else, it meant them.
fn without_strays(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let (strays, data): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|path| path.file_name().is_none_or(names::is_stray));
    if data.is_empty() {
        return strays;
    }
    strays.iter().for_each(|path| log::warn!("{}: left out, this is no data file", path.display()));
    data
}

/// The files `PREFIX-00000-of-00004` or `PREFIX.tfrecord-00000-of-00004` of one set.
fn with_prefix(prefix: &Path) -> Result<Vec<PathBuf>> {
    let folder = prefix.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = prefix.file_name().ok_or_else(|| Error::invalid("the path names no file"))?.as_encoded_bytes();
    let is_of_set = |path: &PathBuf| {
        let numbered = path.file_name().and_then(Numbered::parse);
        numbered.is_some_and(|numbered| {
            let rest = numbered.prefix.as_encoded_bytes().strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
        })
    };
    let files = in_folder(folder.unwrap_or(Path::new(".")))?;
    let strip = |path: PathBuf| match folder {
        Some(_) => path,
        None => path.file_name().map(PathBuf::from).unwrap_or(path),
    };
    let files: Vec<_> = files.into_iter().filter(is_of_set).map(strip).collect();
    if files.is_empty() { Err(Error::invalid("no set of this prefix")) } else { Ok(files) }
}

/// An error unless the files of a folder are one set.
fn only_set(folder: &Path, files: &[PathBuf]) -> Result<()> {
    let sets: BTreeMap<Vec<u8>, String> = files
        .iter()
        .filter_map(|path| path.file_name())
        .map(|name| (names::set_key(name), names::set_pattern(name)))
        .collect();
    if sets.len() < 2 {
        return Ok(());
    }
    let mut patterns: Vec<_> =
        sets.into_values().map(|name| folder.join(name).display().to_string()).collect();
    patterns.dedup();
    let more = patterns.len().saturating_sub(8);
    patterns.truncate(8);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Err(Error::new(ErrorKind::ShardSetConflict, "the folder holds more than one set of files")
        .at_path(folder)
        .with_help(format!("choose one: {}{more}", patterns.join(", "))))
}

/// By their count: a file of each generation, and the numbers of all that are there.
type Generations<'a> = BTreeMap<u64, (Numbered<'a>, HashSet<u64>)>;

/// Checks every `-of-` set among the files: all of one generation, and none missing.
///
/// With a pattern only those are missing that it would have matched.
fn check_sets(files: &[PathBuf], wanted: Option<&Pattern>, allow_missing: bool) -> Result<()> {
    let mut sets: BTreeMap<(&Path, &OsStr, &OsStr), Generations<'_>> = BTreeMap::new();
    for path in files {
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(shard) = path.file_name().and_then(Numbered::parse) {
            let set = sets.entry((folder, shard.prefix, shard.suffix)).or_default();
            set.entry(shard.count).or_insert_with(|| (shard, HashSet::new())).1.insert(shard.number);
        }
    }
    for ((folder, ..), generations) in &sets {
        if generations.len() > 1 {
            let names: Vec<_> = generations
                .values()
                .map(|(shard, _)| folder.join(shard.any()).display().to_string())
                .collect();
            return Err(Error::new(
                ErrorKind::ShardSetConflict,
                "two generations of one set lie side by side",
            )
            .at_path(*folder)
            .with_help(format!("choose one: {}", names.join(", "))));
        }
        for (count, (shard, found)) in generations {
            let missing: Vec<String> = (0..*count)
                .filter(|number| !found.contains(number))
                .map(|number| shard.of_number(number))
                .filter(|name| wanted.is_none_or(|pattern| pattern.matches(&folder.join(name))))
                .take(1000)
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            if missing.is_empty() {
                continue;
            }
            let shown = missing.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if missing.len() > 8 { ", ..." } else { "" };
            let reason = format!("of the set's {count} files these are missing: {shown}{more}");
            if allow_missing {
                log::warn!("{}: {reason}", folder.display());
                continue;
            }
            return Err(Error::new(ErrorKind::MissingShard { names: missing }, reason)
                .at_path(*folder)
                .with_help("fetch them, or allow missing shards"));
        }
    }
    Ok(())
}

/// Each file once, however many links lead to it.
fn without_doubles(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for path in files {
        if seen.insert(identity(&path)) {
            kept.push(path);
        } else {
            log::warn!("{}: left out, another of the names leads to the same file", path.display());
        }
    }
    kept
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
