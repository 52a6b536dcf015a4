//! `info`: how many records, how large, and the state of the indexes.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::{Value, json};
use tfrmap::{Error, Index, IndexState};

use crate::failure::{Exit, Result, exit_of};
use crate::input::{Input, InputOptions, file_len};
use crate::output::{self, Output, Table, Tone};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index info data/
  tfr-index info --json 'data/train-*' | jq .records

Where there is no index the headers are scanned, and nothing is written: run `tfr-index build` to make it instant.";

/// Count records and bytes, and tell the state of each index.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,
}

/// What is known of one file.
struct Shard {
    path: PathBuf,
    bytes: u64,
    index: &'static str,
    sizes: Option<Sizes>,
    error: Option<Error>,
}

/// The lengths of payloads in bytes.
#[derive(Clone, Copy, Default)]
struct Sizes {
    records: u64,
    total: u64,
    min: u64,
    max: u64,
}

impl Sizes {
    fn add(&mut self, len: u64) {
        let first = self.records == 0;
        self.min = if first { len } else { self.min.min(len) };
        self.max = self.max.max(len);
        self.records += 1;
        self.total += len;
    }

    fn and(self, other: Sizes) -> Sizes {
        match (self.records, other.records) {
            (0, _) => other,
            (_, 0) => self,
            _ => Sizes {
                records: self.records + other.records,
                total: self.total + other.total,
                min: self.min.min(other.min),
                max: self.max.max(other.max),
            },
        }
    }

    fn to_json(self) -> Value {
        let any = self.records > 0;
        json!({
            "min": any.then_some(self.min),
            "mean": any.then(|| self.total as f64 / self.records as f64),
            "max": any.then_some(self.max),
        })
    }
}

/// Looks at every file and prints one summary.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let (files, mut exit) = args.input.files(out)?;
    let shards: Vec<Shard> = files.par_iter().map(|file| look(&args.input.options, file)).collect();
    let total = shards.iter().filter_map(|shard| shard.sizes).fold(Sizes::default(), Sizes::and);
    for error in shards.iter().filter_map(|shard| shard.error.as_ref()) {
        exit = exit.and(exit_of(error));
    }
    if out.is_json() {
        out.json(&to_json(&shards, total))?;
    } else if !shards.is_empty() {
        print(&shards, total, out)?;
    }
    out.flush()?;
    for error in shards.iter().filter_map(|shard| shard.error.as_ref()) {
        output::report(error);
    }
    Ok(exit)
}

fn look(options: &InputOptions, path: &Path) -> Shard {
    let mut shard =
        Shard { path: path.to_owned(), bytes: file_len(path), index: "missing", sizes: None, error: None };
    match IndexState::of(path, options.index_dir.as_deref()) {
        // An empty file is never without an index: there is nothing to index.
        Ok(IndexState::Missing) if shard.bytes == 0 => {
            shard.index = "fresh";
            shard.sizes = Some(Sizes::default());
        }
        Ok(state) => {
            shard.index = state.name();
            match state {
                IndexState::Fresh(index) => shard.sizes = Some(sizes(&index)),
                IndexState::Stale(error) | IndexState::Corrupt(error) => {
                    shard.sizes = scan(path).ok();
                    shard.error = Some(error);
                }
                _ => match scan(path) {
                    Ok(sizes) => shard.sizes = Some(sizes),
                    Err(error) => shard.error = Some(error),
                },
            }
        }
        Err(error) => shard.error = Some(error),
    }
    shard
}

fn scan(path: &Path) -> tfrmap::Result<Sizes> {
    Index::build(path).map(|index| sizes(&index))
}

fn sizes(index: &Index) -> Sizes {
    let mut sizes = Sizes::default();
    (0..index.len()).filter_map(|i| index.get(i)).for_each(|span| sizes.add(span.payload_len));
    sizes
}

fn to_json(shards: &[Shard], total: Sizes) -> Value {
    let shards: Vec<Value> = shards
        .iter()
        .map(|shard| {
            json!({
                "path": shard.path.to_string_lossy(),
                "records": shard.sizes.map(|sizes| sizes.records),
                "bytes": shard.bytes,
                "index": shard.index,
                "error": shard.error.as_ref().map(ToString::to_string),
                "kind": shard.error.as_ref().map(|error| error.kind().name()),
            })
        })
        .collect();
    json!({
        "records": total.records,
        "payload_bytes": total.total,
        "record_bytes": total.to_json(),
        "shards": shards,
    })
}

fn print(shards: &[Shard], total: Sizes, out: &mut Output) -> Result<()> {
    let files = shards.len() as u64;
    let bytes = shards.iter().map(|shard| shard.bytes).sum();
    let head = format!(
        "{} in {}, {}",
        units::plural(total.records, "record"),
        units::plural(files, "file"),
        units::bytes(bytes)
    );
    out.text(out.paint(Tone::Bold, head))?;
    if let Some(mean) = total.total.checked_div(total.records) {
        out.text(format!(
            "payloads: {} in all; smallest {}, mean {}, largest {}",
            units::bytes(total.total),
            units::bytes(total.min),
            units::bytes(mean),
            units::bytes(total.max)
        ))?;
    }
    let mut table = Table::new(&[true, true, false, false]);
    for shard in shards {
        let records = shard.sizes.map_or("?".to_owned(), |sizes| units::count(sizes.records));
        table.row([
            records,
            units::bytes(shard.bytes),
            format!("index {}", shard.index),
            shard.path.display().to_string(),
        ]);
    }
    out.text(table)?;
    let missing = shards.iter().filter(|shard| shard.index == "missing" && shard.error.is_none()).count();
    if missing > 0 {
        out.text(out.paint(Tone::Dim, "no index: `tfr-index build` makes opening instant"))?;
    }
    Ok(())
}
