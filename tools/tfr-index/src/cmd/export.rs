//! `export`: indexes for other tools, permuted and filtered where asked for.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tfrmap::{Span, Store};

use crate::atomic;
use crate::failure::{Exit, Failure, Result};
use crate::input::Input;
use crate::output::{self, Output};
use crate::selection::{self, Filter};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index export data/ --format dali --out-dir idx              NAME.idx for readers.tfrecord
  tfr-index export all.tfrecord --format dali --seed 7 --epoch 3  in the order of a true shuffle
  tfr-index export data/ --format dali --skip bad.jsonl           without what `verify` listed
  tfr-index export data/ --format tfindex                         NAME.tfindex for vahidk

With --seed each file's records are listed in the order in which Dataset::shuffled(seed).epoch(epoch) visits them. An \
index belongs to one file, so a reader still goes file by file: merge with `tfr-index copy` for a shuffle across all.";

/// Write indexes that DALI and vahidk's tfrecord read, or a table.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,

    /// What to write.
    #[arg(long, value_enum)]
    format: Format,

    /// Write to this folder instead of beside the data.
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// List records in shuffled order.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// The epoch of the shuffle.
    #[arg(long, value_name = "E", default_value_t = 0, requires = "seed")]
    epoch: u64,

    #[command(flatten)]
    filter: Filter,

    /// Replace outputs that exist.
    #[arg(long)]
    force: bool,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// NVIDIA DALI: NAME.idx with lines `offset size`.
    Dali,
    /// vahidk's tfrecord: NAME.tfindex, the same lines.
    Tfindex,
    /// NAME.csv with record, offset, size, payload_offset, payload_length.
    Csv,
}

/// Writes one index for each file.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    if args.format == Format::Tfindex && args.seed.is_some() {
        return Err(Failure::usage(
            "vahidk's reader takes an index for record boundaries in file order, so a permuted one makes it skip and \
             repeat records; leave --seed out, or shuffle the data with `tfr-index copy --seed`",
        ));
    }
    let (files, exit) = args.input.files(out)?;
    if exit != Exit::Fine {
        return Ok(exit);
    }
    let options = args.input.options.open();
    let stores = Store::open_all(&options, &files)?;
    let targets = targets(args, &files)?;
    if let Some(folder) = &args.out_dir {
        fs::create_dir_all(folder).map_err(|error| Failure::io(folder, error))?;
    }
    let lens: Vec<u64> = stores.iter().map(Store::len).collect();
    let lists =
        selection::numbers_by_file(&args.filter, &files, &lens, args.seed.map(|seed| (seed, args.epoch)))?;
    for ((store, numbers), target) in stores.iter().zip(&lists).zip(&targets) {
        atomic::write(target, args.force, table(args.format, store, numbers)?.as_bytes())?;
        if args.format == Format::Tfindex && numbers.len() < 2 {
            output::warn(format_args!(
                "{}: vahidk's reader fails on an index of fewer than 2 records",
                target.display()
            ));
        }
        let records = numbers.len() as u64;
        if out.is_json() {
            out.json(&json!({
                "path": store.path().to_string_lossy(),
                "out": target.to_string_lossy(),
                "records": records,
            }))?;
        } else {
            out.text(format_args!("{}: {}", target.display(), units::plural(records, "record")))?;
        }
    }
    if args.seed.is_some() && files.len() > 1 {
        output::note(
            "a reader goes file by file; for a shuffle across all files merge them first with `tfr-index copy`",
        );
    }
    Ok(Exit::Fine)
}

/// Where each index goes; all checked before the first is written.
fn targets(args: &Args, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut targets: Vec<PathBuf> = Vec::with_capacity(files.len());
    for file in files {
        let target = target(args.format, args.out_dir.as_deref(), file);
        atomic::refuse_existing(&target, args.force)?;
        targets.push(target);
    }
    atomic::refuse_inputs(&targets, files)?;
    let mut sorted = targets.clone();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::usage(format!(
            "{}: two files of the same name would share this index; export them to folders of their own",
            pair[0].display()
        ))),
        None => Ok(targets),
    }
}

fn target(format: Format, folder: Option<&Path>, file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let append = |extension: &str| {
        let mut name = OsString::from(name);
        name.push(extension);
        name
    };
    let name = match format {
        Format::Dali => append(".idx"),
        Format::Csv => append(".csv"),
        // vahidk's own tool replaces the extension of a `.tfrecord`; in other names a dot is no extension.
        Format::Tfindex if file.extension().is_some_and(|ext| ext == "tfrecord") => {
            Path::new(name).with_extension("tfindex").into_os_string()
        }
        Format::Tfindex => append(".tfindex"),
    };
    match folder {
        Some(folder) => folder.join(name),
        None => file.with_file_name(name),
    }
}

fn table(format: Format, store: &Store, numbers: &[u64]) -> Result<String> {
    const HEADER: u64 = 12;
    const OVERHEAD: u64 = 16;
    let mut text = String::new();
    if format == Format::Csv {
        text.push_str("record,offset,size,payload_offset,payload_length\n");
    }
    for &number in numbers {
        let Span { offset, payload_len } = store.span(number)?;
        let size = payload_len + OVERHEAD;
        // Writing to a string cannot fail.
        let _ = match format {
            Format::Csv => {
                let payload = offset + HEADER;
                writeln!(text, "{number},{offset},{size},{payload},{payload_len}")
            }
            Format::Dali | Format::Tfindex => writeln!(text, "{offset} {size}"),
        };
    }
    Ok(text)
}
