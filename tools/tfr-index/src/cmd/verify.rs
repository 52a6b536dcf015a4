//! `verify`: every CRC, and every picture where that is asked for.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde_json::json;
use tfrmap::image::{DecodeOptions, Format, decode};
use tfrmap::{
    ErrorKind, Example, FileVerifier, IndexState, MissingIndex, Profile, SequenceExample, Store, VerifyEvent,
};

use crate::atomic;
use crate::failure::{Exit, Result, exit_of};
use crate::input::{Input, InputOptions, file_len};
use crate::keys;
use crate::output::{self, Output, Table, Tone};
use crate::problem::Problem;
use crate::progress::{Progress, Unit};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index verify data/                                  every CRC of every file
  tfr-index verify data/ --decode --list bad.jsonl        every picture too, listed; then:
  tfr-index copy data/ --out good.tfrecord --skip bad.jsonl

A damaged length ends its file, since what follows cannot be trusted: `tfr-index copy --skip-bad` finds the records \
behind it. Good are the records on the chain of frames from the beginning of the file.";

/// Check every CRC, and with --decode every picture; list what is wrong.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,

    /// Parse every Example and decode every picture in it.
    #[arg(long)]
    decode: bool,

    /// Write the problems to this file as JSON Lines, for `tfr-index copy --skip`.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,

    /// Replace the list if it exists.
    #[arg(long)]
    force: bool,
}

/// Files smaller than this are checked many at once, a thread each; larger ones one by one, with all threads.
const SMALL: u64 = 64 << 20;

/// What was found in a file.
#[derive(Default)]
struct Found {
    problems: Vec<Problem>,
    good: u64,
    bad: u64,
    /// What kept the file from being read at all.
    failure: Option<tfrmap::Error>,
}

/// Checks all files and reports in order.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    if let Some(list) = &args.list {
        atomic::refuse_existing(list, args.force)?;
    }
    let (files, mut exit) = args.input.files(out)?;
    atomic::refuse_inputs(args.list.as_slice(), &files)?;
    let lens: Vec<u64> = files.iter().map(|file| file_len(file)).collect();
    let bytes = lens.iter().sum();
    let mut total = Found::default();
    let bar = Progress::new("Verifying", Unit::Bytes, bytes);
    let check = |file: &PathBuf, jobs| check(args, file, jobs, &bar);
    let mut next = 0;
    while next < files.len() && !out.is_closed() {
        let small = lens[next..].iter().take_while(|len| **len < SMALL).count().min(1024);
        let found: Vec<Found> = if small > 1 {
            files[next..next + small].par_iter().map(|file| check(file, 1)).collect()
        } else {
            Vec::from([check(&files[next], 0)])
        };
        next += found.len();
        for found in found {
            if let Some(error) = &found.failure {
                output::report(error);
                exit = exit.and(exit_of(error));
            }
            for problem in &found.problems {
                exit = exit.and(if found.failure.is_some() { Exit::Fine } else { Exit::Wrong });
                if out.is_json() {
                    out.json(&problem.to_json())?;
                } else if found.failure.is_none() {
                    out.text(problem)?;
                }
            }
            total.good += found.good;
            total.bad += found.bad;
            total.problems.extend(found.problems);
        }
    }
    drop(bar);
    if let Some(list) = &args.list {
        let lines: String = total.problems.iter().map(|problem| format!("{}\n", problem.to_json())).collect();
        atomic::write(list, args.force, lines.as_bytes())?;
    }
    if out.is_json() {
        let records = total.good + total.bad;
        out.json(&json!({ "records": records, "good": total.good, "bad": total.bad }))?;
    } else if !files.is_empty() {
        summary(&total, files.len() as u64, bytes, args.list.as_deref(), out)?;
    }
    Ok(exit)
}

fn check(args: &Args, file: &Path, jobs: usize, bar: &Progress) -> Found {
    let mut found = Found::default();
    check_index(args, file, &mut found);
    let pictures = if args.decode { Pictures::of(file) } else { None };
    let features: Mutex<HashMap<u64, String>> = Mutex::default();
    let inspect = |record, payload: &[u8]| match &pictures {
        Some(pictures) => pictures.check(payload).map_err(|(feature, error)| {
            if let Some(feature) = feature {
                features.lock().unwrap_or_else(PoisonError::into_inner).insert(record, feature);
            }
            error
        }),
        None => Ok(()),
    };
    let problems = &mut found.problems;
    let mut on_event = |event: VerifyEvent<'_>| match event {
        VerifyEvent::Problem(error) => {
            let mut problem = Problem::new(file, error);
            if let Some(record) = problem.record {
                let features = features.lock().unwrap_or_else(PoisonError::into_inner);
                problem.feature = problem.feature.or_else(|| features.get(&record).cloned());
            }
            problems.push(problem);
        }
        VerifyEvent::Progress { bytes } => bar.add(bytes),
        _ => {}
    };
    let verifier = FileVerifier::new().jobs(jobs);
    let summary = match &pictures {
        Some(_) => verifier.verify_with(file, inspect, &mut on_event),
        None => verifier.verify(file, &mut on_event),
    };
    match summary {
        Ok(summary) => {
            found.good = summary.good;
            found.bad = summary.bad;
        }
        Err(error) => {
            found.bad = 1;
            found.problems = Vec::from([Problem::new(file, &error)]);
            found.failure = Some(error);
        }
    }
    found
}

/// A sidecar that is damaged or does not belong to its data is a problem too, if none of a record.
fn check_index(args: &Args, file: &Path, found: &mut Found) {
    let options = &args.input.options;
    let error = match IndexState::of(file, options.index_dir.as_deref()) {
        Ok(IndexState::Stale(error) | IndexState::Corrupt(error)) => Some(error),
        Ok(IndexState::Fresh(index)) => index.check_body().err().or_else(|| disagreement(options, file)),
        // What cannot be read is found again with the data.
        _ => None,
    };
    found.problems.extend(error.map(|error| Problem {
        record: None,
        offset: None,
        ..Problem::new(file, &error)
    }));
}

/// Where a sample of the records, read through the sidecar, is not what was indexed.
fn disagreement(options: &InputOptions, file: &Path) -> Option<tfrmap::Error> {
    let store = Store::open_with(&options.open().missing_index(MissingIndex::Fail), file).ok()?;
    let errors = Profile::sample(store.len()).filter_map(|i| store.get(i).err());
    // Damage in the data is found by reading all of it.
    errors.into_iter().find(|error| error.is_stale_index() || *error.kind() == ErrorKind::IndexCorrupt)
}

/// Which features of a file's records hold pictures.
struct Pictures {
    /// Keys whose every value must be a picture.
    always: Vec<Vec<u8>>,
    /// True where values of other keys, or steps of sequences, are pictures too.
    others: bool,
}

impl Pictures {
    /// What a sample of the file's records tells; none where they are no Examples.
    fn of(file: &Path) -> Option<Pictures> {
        let (store, _) = Store::scan(&tfrmap::OpenOptions::new(), file).ok()?;
        let mut profile = Profile::new();
        for i in Profile::sample(store.len()) {
            if let Ok(record) = store.get(i) {
                profile.add(&record);
            }
        }
        if profile.examples() == 0 {
            return None;
        }
        // The usual key is one even where every picture under it is damaged.
        let always: Vec<Vec<u8>> = profile
            .keys()
            .filter(|(key, seen)| seen.image().is_some() || (*key == b"image/encoded" && seen.bytes > 0))
            .map(|(key, _)| key.to_vec())
            .collect();
        let others = profile.lists().any(|(_, list)| !list.step.pictures.is_empty())
            || profile
                .keys()
                .any(|(key, seen)| !seen.pictures.is_empty() && !always.iter().any(|a| a == key));
        Some(Pictures { always, others })
    }

    /// The first picture of a record that is wrong, with its key.
    fn check(&self, payload: &[u8]) -> Result<(), (Option<String>, tfrmap::Error)> {
        let sequence = SequenceExample::parse(payload).map_err(|error| (None, error))?;
        let example: Example<'_> = sequence.context();
        for key in &self.always {
            for value in example.get(key).iter().flat_map(|feature| feature.bytes()) {
                look(key, value)?;
            }
        }
        if self.others {
            let features = example.iter().filter(|(key, _)| !self.always.iter().any(|a| a == key));
            let steps = sequence.lists().flat_map(|(key, list)| list.iter().map(move |step| (key, step)));
            for (key, feature) in features.chain(steps) {
                for value in feature.bytes().filter(|value| Format::of(value).is_some()) {
                    look(key, value)?;
                }
            }
        }
        Ok(())
    }
}

fn look(key: &[u8], picture: &[u8]) -> Result<(), (Option<String>, tfrmap::Error)> {
    decode(picture, &DecodeOptions::default()).map(drop).map_err(|error| (Some(keys::name(key)), error))
}

fn summary(total: &Found, files: u64, bytes: u64, list: Option<&Path>, out: &mut Output) -> Result<()> {
    let tone = if total.problems.is_empty() { Tone::Good } else { Tone::Bad };
    let head = format!(
        "{} in {}, {}: {} good, {} bad",
        units::plural(total.good + total.bad, "record"),
        units::plural(files, "file"),
        units::bytes(bytes),
        units::count(total.good),
        units::count(total.bad)
    );
    out.text(out.paint(tone, head))?;
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for problem in &total.problems {
        *kinds.entry(problem.kind).or_default() += 1;
    }
    let mut table = Table::new(&[true, false]);
    for (kind, count) in kinds {
        table.row([units::count(count), kind.to_owned()]);
    }
    if !table.is_empty() {
        out.text(table)?;
    }
    // What is no TFRecord file cannot be copied, and one that cannot be walked to its end only by searching it.
    let records = || total.problems.iter().filter(|problem| problem.record.is_some());
    if records().all(|problem| matches!(problem.kind, "NotTfrecord" | "Compressed")) {
        return Ok(());
    }
    let torn = |kind| matches!(kind, "Truncated" | "CorruptLength" | "LengthPastEnd" | "TrailingBytes");
    let search = if records().any(|problem| torn(problem.kind)) { " --skip-bad" } else { "" };
    let (first, list) = match list {
        Some(list) => ("", list.display().to_string()),
        None => ("`verify --list bad.jsonl`, then ", "bad.jsonl".to_owned()),
    };
    out.text(format!("to leave them out: {first}`tfr-index copy PATH --out NEW --skip {list}{search}`"))
}
