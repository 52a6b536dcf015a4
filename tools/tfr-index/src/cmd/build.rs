//! `build`: writes the sidecar index of each data file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::{Value, json};
use tfrmap::{BuildEvent, BuildReport, BuildStatus, Index, IndexBuilder};

use crate::failure::{Exit, Failure, Result, exit_of};
use crate::input::{Input, file_len};
use crate::output::{self, Output, Tone};
use crate::progress::{Progress, Unit};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index build data/                    every shard of a folder; fresh ones stay as they are
  tfr-index build 'data/train-*' --check   verify the CRC of every payload too
  tfr-index build /mnt/ro/ --index-dir ix  where the data's folder cannot be written

An index is DIR/.tfrmap/NAME.tfri. It is written to a temporary name and renamed, and only headers are read.";

/// Write the index of each data file, or extend it where the file has grown.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,

    /// Verify the CRC of every payload too.
    #[arg(long)]
    check: bool,

    /// Write every index anew, fresh or not.
    #[arg(long)]
    force: bool,

    /// Use at most N threads.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Builds and reports, file by file, in order.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let (files, mut exit) = args.input.files(out)?;
    refuse_shared(args, &files)?;
    let mut builder =
        IndexBuilder::new().check(args.check).force(args.force).jobs(args.jobs.unwrap_or_default());
    if let Some(folder) = &args.input.options.index_dir {
        builder = builder.index_dir(folder);
    }
    let reports = with_progress(&builder, &files);
    for report in &reports {
        if let Some(error) = &report.error {
            exit = exit.and(exit_of(error));
        }
        if out.is_json() {
            out.json(&to_json(report))?;
        } else {
            out.text(to_text(report, out))?;
        }
    }
    out.flush()?;
    for error in reports.iter().filter_map(|report| report.error.as_ref()) {
        output::report(error);
    }
    Ok(exit)
}

/// Refuses files that would write over each other's index: an index folder holds one for a name.
fn refuse_shared(args: &Args, files: &[PathBuf]) -> Result<()> {
    let mut file_of = HashMap::new();
    for file in files {
        let place = Index::sidecar_path(file, args.input.options.index_dir.as_deref());
        let first = *file_of.entry(place).or_insert(file);
        let is_same = || matches!((first.canonicalize(), file.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if first != file && !is_same() {
            return Err(Failure::usage(format!(
                "{} and {} would share one index; give files of the same name index folders of their own",
                first.display(),
                file.display()
            )));
        }
    }
    Ok(())
}

fn with_progress(builder: &IndexBuilder, files: &[PathBuf]) -> Vec<BuildReport> {
    let bar = Progress::new("Indexing", Unit::Bytes, files.iter().map(|file| file_len(file)).sum());
    let records = Mutex::new(0);
    builder.build(files, |event| match event {
        BuildEvent::Progress { bytes, .. } => bar.add(bytes),
        BuildEvent::Done(report) => {
            let mut records = records.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            *records += report.records;
            bar.message(|| units::plural(*records, "record"));
        }
        _ => {}
    })
}

fn to_json(report: &BuildReport) -> Value {
    json!({
        "path": report.path.to_string_lossy(),
        "records": report.records,
        "bytes": report.bytes,
        "status": report.status.name(),
        "error": report.error.as_ref().map(ToString::to_string),
        "kind": report.error.as_ref().map(|error| error.kind().name()),
    })
}

fn to_text(report: &BuildReport, out: &Output) -> String {
    let tone = match report.status {
        BuildStatus::Failed => Tone::Bad,
        BuildStatus::Fresh => Tone::Dim,
        _ => Tone::Good,
    };
    format!(
        "{} {}  {}, {}",
        out.paint(tone, format_args!("{:<8}", report.status.name())),
        report.path.display(),
        units::plural(report.records, "record"),
        units::bytes(report.bytes),
    )
}
