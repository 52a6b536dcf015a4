//! `copy`: reshard, merge, split, filter, decompress, shuffle and salvage; payloads stay as they are.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::json;
use tfrmap::{DatasetWriter, Order};

use crate::atomic;
use crate::copy::{Delivery, Found, Input, Kind, Place, Shuffled, Staged, deliver};
use crate::failure::{Exit, Failure, Result};
use crate::input;
use crate::output::{self, Output, Tone};
use crate::problem::Problem;
use crate::progress::{Progress, Unit};
use crate::selection::{Filter, Selection, SkipList};
use crate::shards;
use crate::space;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index copy data/ --out all.tfrecord                      merge into one file
  tfr-index copy all.tfrecord --out data/train --shards 16     split; the order stays
  tfr-index copy 'gz/*.gz' --out data/train --shards 16        decompress gzip and zlib
  tfr-index copy data/ --out mixed --shards 16 --seed 1        shuffle globally
  tfr-index copy data/ --out dev.tfrecord --range 0..1000      a part
  tfr-index copy torn.tfrecord --out whole.tfrecord --skip-bad salvage what is whole
  tfr-index copy data/ --out good --skip bad.jsonl             without what `verify --list` found

The output appears whole or not at all, with its index, and is never one of the inputs. Memory stays bounded. With \
--seed or an unordered --select, inputs that are compressed or damaged are first unpacked beside the output.";

/// Copy records into other files: merge, split, filter, decompress, shuffle, salvage.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: input::Input,

    /// The file to write; with --shards the beginning of the files' names.
    #[arg(long, value_name = "PREFIX")]
    out: PathBuf,

    /// Write N files PREFIX-00000-of-0000N, filled one after the other.
    #[arg(long, value_name = "N", default_value_t = 1)]
    shards: usize,

    /// Shuffle all records by this seed: the order of Dataset::shuffled(seed) in epoch 0.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    #[command(flatten)]
    filter: Filter,

    /// Leave out damaged records, and go on behind damage at the next whole one.
    #[arg(long)]
    skip_bad: bool,

    /// Replace outputs that exist.
    #[arg(long)]
    force: bool,
}

/// Copies and reports.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let names = shards::names(&args.out, args.shards)?;
    let (files, exit) = args.input.files(out)?;
    if exit != Exit::Fine {
        return Ok(exit);
    }
    atomic::refuse_inputs(&names, &files)?;
    for name in &names {
        atomic::refuse_existing(name, args.force)?;
    }
    let options = args.input.options.open_in_memory();
    let mut inputs = files
        .par_iter()
        .map(|file| Input::open(file, &options, args.skip_bad))
        .collect::<Result<Vec<Input>>>()?;
    let skip = SkipList::of(&args.filter, &files)?;
    let filtered = args.filter.range.is_some() || args.filter.select.is_some() || args.filter.skip.is_some();
    let selection = if filtered || args.shards > 1 || args.seed.is_some() {
        Some(Selection::of(&args.filter, &skip, &files, &count(args, &mut inputs)?)?)
    } else {
        None
    };
    let shuffled = selection.as_ref().is_some_and(|chosen| args.seed.is_some() || !chosen.is_ascending());
    space::check(&args.out, needed(&inputs, selection.as_ref(), shuffled))?;
    let mut job = Job {
        args,
        writer: shards::create(&args.out, args.shards, args.force)?,
        total: selection.as_ref().map_or(0, Selection::len),
        position: 0,
        problems: 0,
        skip: &skip,
        out,
    };
    for line in skip.lines() {
        let place = || match line["path"].as_str() {
            Some(path) => format!("{path}: record {}", line["record"]),
            None => format!("record {line}"),
        };
        job.skipped(|| line.clone(), || format!("{}: left out as listed", place()))?;
    }
    match selection {
        Some(selection) if shuffled => job.shuffle(&inputs, &selection)?,
        Some(selection) => {
            let starts = crate::selection::starts(&lens(&inputs));
            let wanted: Vec<_> = starts.windows(2).map(|file| selection.within(file[0]..file[1])).collect();
            job.stream(&inputs, &wanted)?;
        }
        None => {
            let all: Vec<Vec<_>> = inputs
                .iter()
                .map(|input| std::iter::once(0..input.len.unwrap_or(u64::MAX)).collect())
                .collect();
            job.stream(&inputs, &all)?;
        }
    }
    job.finish(&names)
}

/// The numbers of records of all inputs; those that are not known are counted.
fn count(args: &Args, inputs: &mut [Input]) -> Result<Vec<u64>> {
    let unknown = inputs.iter().filter(|input| input.len.is_none());
    let bar = Progress::new("Counting", Unit::Bytes, unknown.map(|input| input.bytes).sum());
    inputs.par_iter_mut().filter(|input| input.len.is_none()).try_for_each(|input| {
        let mut count = 0;
        input.walk(args.skip_bad, |found| {
            match found {
                Found::Record(number, _) => count = number + 1,
                Found::Lost(problem) => count = problem.record.map_or(count, |record| record + 1),
                Found::Unproven(_) => {}
            }
            true
        })?;
        bar.add(input.bytes);
        input.len = Some(count);
        Ok::<(), Failure>(())
    })?;
    Ok(lens(inputs))
}

fn lens(inputs: &[Input]) -> Vec<u64> {
    inputs.iter().map(|input| input.len.unwrap_or(0)).collect()
}

/// Bytes that the copy takes at least: as many as the inputs, or their part that is chosen; and for a shuffle those
/// of the inputs that are unpacked first.
fn needed(inputs: &[Input], selection: Option<&Selection>, shuffled: bool) -> u64 {
    let bytes: u64 = inputs.iter().map(space::inflated).sum();
    let records: u64 = lens(inputs).iter().sum();
    let unpacked = inputs.iter().filter(|input| shuffled && !matches!(input.kind, Kind::Plain(_)));
    let unpacked: u64 = unpacked.map(space::inflated).sum();
    match selection {
        Some(selection) if records > 0 => {
            unpacked + (u128::from(bytes) * u128::from(selection.len()) / u128::from(records)) as u64
        }
        _ => bytes,
    }
}

struct Job<'a> {
    args: &'a Args,
    writer: DatasetWriter,
    /// The number of records to write, where there are several files to fill.
    total: u64,
    position: u64,
    problems: u64,
    skip: &'a SkipList,
    out: &'a mut Output,
}

impl Job<'_> {
    fn write(&mut self, payload: &[u8]) -> Result<()> {
        let shard = shards::of(self.position, self.total, self.args.shards);
        self.position += 1;
        Ok(self.writer.write_to(shard, payload)?)
    }

    fn skipped(
        &mut self,
        json: impl FnOnce() -> serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        self.problems += 1;
        if self.out.is_json() {
            self.out.json(&json())
        } else {
            output::warn(text());
            Ok(())
        }
    }

    fn lost(&mut self, problem: &Problem) -> Result<()> {
        if problem.record.is_some_and(|record| self.skip.names(&problem.path, record)) {
            return Ok(());
        }
        self.skipped(|| problem.to_json(), || problem.to_string())
    }

    fn unproven(path: &Path, offset: u64) {
        output::note(format_args!(
            "{}: at byte {offset} within a lost stretch there is what looks like a record; it may be a part of \
             another one, so it is left out",
            path.display()
        ));
    }

    /// Copies in the order of the files.
    fn stream(&mut self, inputs: &[Input], wanted: &[Vec<std::ops::Range<u64>>]) -> Result<()> {
        let bar = Progress::new("Copying", Unit::Bytes, inputs.iter().map(space::inflated).sum());
        deliver(inputs, wanted, self.args.skip_bad, |delivery| match delivery {
            Delivery::Record(payload) => {
                bar.add(payload.len() as u64 + 16);
                self.write(payload)
            }
            Delivery::Lost(problem) => self.lost(&problem),
            Delivery::Unproven(input, offset) => {
                Self::unproven(&input.path, offset);
                Ok(())
            }
        })
    }

    /// Copies in another order.
    fn shuffle(&mut self, inputs: &[Input], selection: &Selection) -> Result<()> {
        let staged = inputs
            .par_iter()
            .enumerate()
            .map(|(tag, input)| match input.kind {
                Kind::Plain(_) => Ok(None),
                _ => Staged::new(input, self.args.skip_bad, &self.args.out, tag).map(Some),
            })
            .collect::<Result<Vec<Option<Staged>>>>();
        let staged = staged?;
        let mut places = Vec::with_capacity(inputs.len());
        for (input, staged) in inputs.iter().zip(&staged) {
            match (&input.kind, staged) {
                (_, Some(staged)) => {
                    staged.lost.iter().try_for_each(|problem| self.lost(problem))?;
                    staged.unproven.iter().for_each(|offset| Self::unproven(&input.path, *offset));
                    places.push(Place::Staged(staged));
                }
                (Kind::Plain(store), None) => places.push(Place::Plain(store)),
                _ => {}
            }
        }
        let len = selection.len();
        let order = match self.args.seed {
            Some(seed) => Order::shuffled(len, seed, 0),
            None => Order::sequential(len),
        };
        let bar = Progress::new("Copying", Unit::Records, len);
        let salvage = self.args.skip_bad;
        Shuffled::new(places, &lens(inputs)).deliver(
            len,
            |position| selection.at(order.at(position)),
            salvage,
            |record| {
                bar.add(1);
                match record {
                    Ok(record) => self.write(&record),
                    Err(problem) => self.lost(&problem),
                }
            },
        )
    }

    fn finish(self, names: &[PathBuf]) -> Result<Exit> {
        let Job { writer, out, problems, args, .. } = self;
        let written = writer.records();
        writer.finish()?;
        if out.is_json() {
            out.json(&json!({ "written": written, "skipped": problems }))?;
        } else {
            let files = match names {
                [name] => name.display().to_string(),
                _ => format!("{} files {}-*", names.len(), args.out.display()),
            };
            let records = units::plural(written, "record");
            let head = out.paint(Tone::Bold, format_args!("{records} written to {files}"));
            out.text(if problems > 0 {
                format!("{head}, {} left out", units::count(problems))
            } else {
                head
            })?;
        }
        Ok(Exit::Fine)
    }
}
