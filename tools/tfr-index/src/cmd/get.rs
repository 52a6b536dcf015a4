//! `get`: one record, or one feature's bytes.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tfrmap::image::Format;
use tfrmap::{Dataset, Example, Feature, Kind, PayloadKind, Record, SequenceExample};

use crate::failure::{Exit, Failure, Result};
use crate::input::InputOptions;
use crate::keys;
use crate::output::{Output, Table, Tone};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index get data/ 0                                     the first record, feature by feature
  tfr-index get data/ 41 --feature image/encoded > 41.jpg   one feature's bytes
  tfr-index get data/ 41 --raw | protoc --decode_raw        the payload as it is

I counts through all files in order, from 0. Bytes are shown by their first 32; numbers in full with --json.
A key that is not UTF-8 is written as hex: and its hexadecimal digits.";

/// Show one record, or write its bytes to standard output.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A file, a folder or a quoted pattern.
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// The record's number, from 0.
    #[arg(value_name = "I")]
    index: u64,

    /// Write this feature's bytes as they are; numbers one a line.
    #[arg(long, value_name = "KEY", conflicts_with = "raw")]
    feature: Option<OsString>,

    /// Which value of the feature, from 0, where it has several byte strings.
    #[arg(long, value_name = "N", requires = "feature")]
    value: Option<usize>,

    /// Write the whole payload as it is.
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    options: InputOptions,
}

/// Bytes shown of a value.
const SHOWN: usize = 32;
/// Numbers shown of a list in the text form.
const NUMBERS: usize = 8;

/// Finds the record and shows it.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let dataset = Dataset::open_with(&args.options.open(), [&args.path])?;
    if args.index >= dataset.len() {
        return Err(Failure::usage(format!(
            "{}: there is no record {}; there are {}, counted from 0",
            args.path.display(),
            args.index,
            dataset.len()
        )));
    }
    let record = dataset.get(args.index)?;
    if args.raw {
        out.bytes(&record)?;
    } else if let Some(argument) = &args.feature {
        feature_bytes(args, &record, &keys::parse(argument), out)?;
    } else if out.is_json() {
        out.json(&to_json(args.index, &record))?;
    } else {
        print(args.index, dataset.len(), &record, out)?;
    }
    Ok(Exit::Fine)
}

fn feature_bytes(args: &Args, record: &Record, key: &[u8], out: &mut Output) -> Result<()> {
    let place =
        || format!("{}: record {} at byte {}", record.path().display(), record.index(), record.offset());
    let example = Example::parse(record).map_err(|error| Failure::data(format!("{}: {error}", place())))?;
    let name = keys::name(key);
    let Some(feature) = example.get(key) else {
        let keys: Vec<String> = example.iter().map(|(key, _)| keys::name(key)).collect();
        let there = if keys.is_empty() { "no feature at all".to_owned() } else { keys.join(", ") };
        return Err(Failure::data(format!(
            "{}, feature \"{name}\": not in this record; it has {there}",
            place()
        )));
    };
    match feature.kind() {
        Kind::Bytes => {
            let wanted = match (args.value, feature.len()) {
                (Some(value), _) => value,
                (None, 1) => 0,
                (None, count) => {
                    return Err(Failure::usage(format!(
                        "{}, feature \"{name}\" holds {count} byte strings; choose one with --value 0 to {}",
                        place(),
                        count.saturating_sub(1)
                    )));
                }
            };
            let Some(bytes) = feature.bytes().nth(wanted) else {
                return Err(Failure::usage(format!(
                    "{}, feature \"{name}\" has no value {wanted}, it has {}",
                    place(),
                    feature.len()
                )));
            };
            out.bytes(bytes)
        }
        Kind::Float => feature.floats().try_for_each(|value| out.text(value)),
        Kind::Int64 => feature.int64s().try_for_each(|value| out.text(value)),
        Kind::None => Ok(()),
    }
}

fn to_json(index: u64, record: &Record) -> Value {
    let mut line = json!({
        "index": index,
        "path": record.path().to_string_lossy(),
        "record": record.index(),
        "offset": record.offset(),
        "length": record.len(),
        "payload": PayloadKind::of(record).name(),
    });
    let parsed = SequenceExample::parse(record).ok().filter(|_| holds_features(record));
    match parsed {
        Some(sequence) => {
            line["features"] = features_json(&sequence.context());
            let lists: Map<String, Value> = sequence
                .lists()
                .map(|(key, list)| (keys::name(key), list.iter().map(|step| feature_json(&step)).collect()))
                .collect();
            if !lists.is_empty() {
                line["feature_lists"] = Value::Object(lists);
            }
        }
        None => {
            line["features"] = Value::Null;
            line["value"] = bytes_json(record);
        }
    }
    line
}

/// True for an Example or a SequenceExample; an empty payload is an Example without features.
fn holds_features(payload: &[u8]) -> bool {
    payload.is_empty()
        || matches!(PayloadKind::of(payload), PayloadKind::Example | PayloadKind::SequenceExample)
}

fn features_json(example: &Example<'_>) -> Value {
    Value::Object(example.iter().map(|(key, feature)| (keys::name(key), feature_json(&feature))).collect())
}

fn feature_json(feature: &Feature<'_>) -> Value {
    let values: Value = match feature.kind() {
        Kind::Bytes => feature.bytes().map(bytes_json).collect(),
        Kind::Float => feature.floats().map(float_json).collect(),
        Kind::Int64 => feature.int64s().collect(),
        Kind::None => json!([]),
    };
    json!({ "kind": feature.kind().name(), "count": feature.len(), "values": values })
}

/// The length and the first bytes, as text where they are some.
fn bytes_json(bytes: &[u8]) -> Value {
    match text_of(bytes) {
        Some(text) => json!({ "length": bytes.len(), "text": text }),
        None => json!({ "length": bytes.len(), "hex": keys::hex(&bytes[..bytes.len().min(SHOWN)]) }),
    }
}

/// The shortest decimal number that is the same float; what JSON has no number for as text.
fn float_json(value: f32) -> Value {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    value.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// The first bytes as text, cut between characters; `None` where they are not printable.
fn text_of(bytes: &[u8]) -> Option<&str> {
    let head = &bytes[..bytes.len().min(SHOWN)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() && head.len() < bytes.len() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).then_some(text)
}

fn print(index: u64, len: u64, record: &Record, out: &mut Output) -> Result<()> {
    out.text(out.paint(
        Tone::Bold,
        format_args!(
            "record {} of {}, {}",
            index,
            units::count(len),
            units::plural(record.len() as u64, "byte")
        ),
    ))?;
    out.text(format_args!(
        "{}: record {} at byte {}",
        record.path().display(),
        record.index(),
        record.offset()
    ))?;
    let parsed = SequenceExample::parse(record).ok().filter(|_| holds_features(record));
    let Some(sequence) = parsed else {
        return out.text(format_args!("{}: {}", PayloadKind::of(record).name(), bytes_text(record)));
    };
    let mut table = Table::new(&[false, false, true, false]);
    for (key, feature) in sequence.context().iter() {
        table.row(row(&keys::name(key), &feature));
    }
    for (key, list) in sequence.lists() {
        for (step, feature) in list.iter().take(NUMBERS).enumerate() {
            table.row(row(&format!("{}[{step}]", keys::name(key)), &feature));
        }
        if list.len() > NUMBERS {
            let more = format!("... {} steps in all", units::count(list.len() as u64));
            table.row([keys::name(key), String::new(), String::new(), more]);
        }
    }
    if table.is_empty() {
        return out.text("an Example without features");
    }
    out.text(table)
}

fn row(name: &str, feature: &Feature<'_>) -> [String; 4] {
    [
        name.to_owned(),
        feature.kind().name().to_owned(),
        units::count(feature.len() as u64),
        values_text(feature),
    ]
}

fn values_text(feature: &Feature<'_>) -> String {
    let mut shown: Vec<String> = match feature.kind() {
        Kind::Bytes => feature.bytes().take(NUMBERS).map(bytes_text).collect(),
        Kind::Float => feature.floats().take(NUMBERS).map(|value| value.to_string()).collect(),
        Kind::Int64 => feature.int64s().take(NUMBERS).map(|value| value.to_string()).collect(),
        Kind::None => Vec::new(),
    };
    if feature.len() > NUMBERS {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}

fn bytes_text(bytes: &[u8]) -> String {
    if let Some(format) = Format::of(bytes) {
        return format!("{} picture, {}", format.name(), units::bytes(bytes.len() as u64));
    }
    match text_of(bytes) {
        Some(text) if text.len() == bytes.len() => format!("{text:?}"),
        Some(text) => format!("{text:?}... {}", units::bytes(bytes.len() as u64)),
        None if bytes.len() > SHOWN / 2 => {
            format!("{}... {}", keys::hex(&bytes[..SHOWN / 2]), units::bytes(bytes.len() as u64))
        }
        None => keys::hex(bytes),
    }
}
