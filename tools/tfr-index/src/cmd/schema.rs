//! `schema`: what is inside, and the spec that reads it.

use std::collections::BTreeMap;
use std::io::Cursor;

use serde_json::{Map, Value, json};
use tfrmap::image::Format;
use tfrmap::{Dataset, Example, Features, KeyProfile, Kind, MinMax, PayloadKind, Profile};

use crate::failure::{Exit, Result, exit_of};
use crate::input::Input;
use crate::keys;
use crate::output::{self, Output, Table, Tone};
use crate::progress::{Progress, Unit};
use crate::spec_text::Form;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index schema data/                             what is inside, and the spec in 4 languages
  tfr-index schema data/ --spec json > spec.json     the spec alone, for `batch --spec`
  tfr-index schema data/ --records 0                 look at every record";

/// Tell what the records are, count kinds and lengths, and print the spec that reads them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,

    /// Look at N records, spread evenly from the first to the last; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    records: u64,

    /// Print nothing but the spec, in this form.
    #[arg(long, value_enum, value_name = "FORM")]
    spec: Option<Form>,
}

/// What is seen of the pictures under one key, besides what the library's profile counts.
#[derive(Default)]
struct Pictures {
    height: Option<MinMax>,
    width: Option<MinMax>,
    /// Pictures whose feature `format` says something else than their content.
    mislabelled: u64,
    /// Of these, the first: record, what is stored, what it is.
    first: Option<(u64, String, &'static str)>,
}

/// Looks and prints.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let dataset = args.input.dataset()?;
    let mut profile = Profile::new();
    let mut pictures: BTreeMap<Vec<u8>, Pictures> = BTreeMap::new();
    let exit = look(&dataset, args.records, &mut profile, &mut pictures)?;
    let features = profile.features();
    if let Some(form) = args.spec {
        out.bytes(form.text(&features).as_bytes())?;
    } else if out.is_json() {
        out.json(&to_json(&profile, &pictures, &features))?;
    } else {
        print(&dataset, &profile, &pictures, &features, out)?;
    }
    Ok(exit)
}

fn look(
    dataset: &Dataset,
    wanted: u64,
    profile: &mut Profile,
    pictures: &mut BTreeMap<Vec<u8>, Pictures>,
) -> Result<Exit> {
    let len = dataset.len();
    let count = if wanted == 0 { len } else { wanted.min(len) };
    let bar = Progress::new("Looking", Unit::Records, count);
    let mut exit = Exit::Fine;
    for i in 0..count {
        // Evenly from the first to the last.
        let number = (u128::from(i) * u128::from(len - 1) / u128::from((count - 1).max(1))) as u64;
        match dataset.get(number) {
            Ok(record) => {
                profile.add(&record);
                look_at_pictures(number, &record, pictures);
            }
            Err(error) => {
                output::report(&error);
                exit = exit.and(exit_of(&error));
            }
        }
        bar.add(1);
    }
    Ok(exit)
}

fn look_at_pictures(number: u64, payload: &[u8], pictures: &mut BTreeMap<Vec<u8>, Pictures>) {
    let is_example = matches!(PayloadKind::of(payload), PayloadKind::Example | PayloadKind::SequenceExample);
    let Some(example) = is_example.then(|| Example::parse(payload).ok()).flatten() else { return };
    for (key, feature) in example.iter() {
        let (Some(value), 1) = (feature.bytes().next(), feature.len()) else { continue };
        let Some(format) = Format::of(value) else { continue };
        let seen = pictures.entry(key.to_vec()).or_default();
        if let Some((width, height)) = dimensions(value) {
            widen(&mut seen.width, width);
            widen(&mut seen.height, height);
        }
        let stored = stored_format(&example, key);
        if let Some(stored) = stored.filter(|stored| !names_format(stored, format)) {
            seen.mislabelled += 1;
            seen.first.get_or_insert((number, stored, format.name()));
        }
    }
}

/// Width and height by the header.
fn dimensions(picture: &[u8]) -> Option<(u32, u32)> {
    image::ImageReader::new(Cursor::new(picture)).with_guessed_format().ok()?.into_dimensions().ok()
}

/// What the feature `format` beside the picture's key says.
fn stored_format(example: &Example<'_>, key: &[u8]) -> Option<String> {
    let folder = key.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let value = example.get([&key[..folder], b"format"].concat())?.bytes().next()?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn names_format(stored: &str, format: Format) -> bool {
    let stored = stored.trim_start_matches('.').to_ascii_lowercase();
    stored == format.name().to_ascii_lowercase() || (format == Format::Jpeg && stored == "jpg")
}

fn widen(range: &mut Option<MinMax>, value: u32) {
    let value = u64::from(value);
    let old = range.unwrap_or(MinMax { min: value, max: value });
    *range = Some(MinMax { min: old.min.min(value), max: old.max.max(value) });
}

fn range_json(range: Option<MinMax>) -> Value {
    range.map_or(Value::Null, |range| json!({ "min": range.min, "max": range.max }))
}

fn to_json(profile: &Profile, pictures: &BTreeMap<Vec<u8>, Pictures>, features: &Features) -> Value {
    let columns: Map<String, Value> =
        profile.keys().map(|(key, seen)| (keys::name(key), key_json(seen, pictures.get(key)))).collect();
    let lists: Map<String, Value> = profile
        .lists()
        .map(|(key, list)| {
            let mut value = key_json(&list.step, None);
            value["present"] = list.present.into();
            value["steps"] = range_json(list.steps);
            (keys::name(key), value)
        })
        .collect();
    let mut line = json!({
        "records_scanned": profile.records(),
        "payload": profile.payload().name(),
        "features": columns,
    });
    if !lists.is_empty() {
        line["feature_lists"] = lists.into();
    }
    line["spec"] = features.to_json();
    line
}

fn key_json(seen: &KeyProfile, pictures: Option<&Pictures>) -> Value {
    let kinds: Map<String, Value> =
        seen.kinds().iter().map(|(kind, records)| (kind.name().to_owned(), (*records).into())).collect();
    let image = pictures.filter(|_| !seen.pictures.is_empty()).map(|pictures| {
        let formats: Map<String, Value> = seen
            .pictures
            .iter()
            .map(|(format, records)| (format.to_lowercase(), (*records).into()))
            .collect();
        json!({
            "formats": formats,
            "height": range_json(pictures.height),
            "width": range_json(pictures.width),
            "mislabelled": pictures.mislabelled,
        })
    });
    json!({
        "kind": kind_name(seen),
        "present": seen.present,
        "unset": seen.unset,
        "count": seen.count.map_or(json!({ "min": 0, "max": 0 }), |count| range_json(Some(count))),
        "kinds": kinds,
        "image": image,
    })
}

fn kind_name(seen: &KeyProfile) -> &'static str {
    match seen.kind() {
        Some(kind) => kind.name(),
        None if seen.kinds().is_empty() => Kind::None.name(),
        None => "mixed",
    }
}

fn print(
    dataset: &Dataset,
    profile: &Profile,
    pictures: &BTreeMap<Vec<u8>, Pictures>,
    features: &Features,
    out: &mut Output,
) -> Result<()> {
    let what = match profile.payload() {
        PayloadKind::Event => "TensorBoard events",
        PayloadKind::Text => "text",
        PayloadKind::Unknown if profile.records() == 0 => "no records",
        PayloadKind::Unknown => "unknown: neither Examples nor events nor text",
        other => other.name(),
    };
    let scanned =
        format!("{} of {}", units::count(profile.records()), units::plural(dataset.len(), "record"));
    out.text(format_args!("{}  ({scanned} looked at)", out.paint(Tone::Bold, what)))?;
    let mut table = Table::new(&[false, false, false, false, false]);
    for (key, seen) in profile.keys() {
        table.row(row(&keys::name(key), seen, pictures.get(key), profile.records()));
    }
    for (key, list) in profile.lists() {
        let [name, kind, _, count, image] = row(&keys::name(key), &list.step, None, list.step.present);
        let present = presence(list.present, profile.records());
        let steps = list.steps.map_or(String::new(), |steps| format!("{} steps of ", range_text(steps)));
        table.row([name, kind, present, steps + &count, image]);
    }
    if !table.is_empty() {
        out.text(table)?;
    }
    for (name, remark) in remarks(profile, pictures) {
        out.text(format_args!("{} {name}: {remark}", out.paint(Tone::Odd, "look:")))?;
    }
    for form in Form::ALL {
        out.text(format_args!("\n{}", out.paint(Tone::Bold, format_args!("# {}", form.title()))))?;
        out.bytes(form.text(features).as_bytes())?;
    }
    Ok(())
}

fn row(name: &str, seen: &KeyProfile, pictures: Option<&Pictures>, records: u64) -> [String; 5] {
    let count = seen.count.map_or(String::new(), |count| {
        format!("{} value{}", range_text(count), if count.max == 1 { "" } else { "s" })
    });
    let image = seen.image().map_or(String::new(), |format| match pictures {
        Some(Pictures { height: Some(height), width: Some(width), .. }) => {
            format!("{format} pictures, {} x {} pixels", range_text(*width), range_text(*height))
        }
        _ => format!("{format} pictures"),
    });
    [name.to_owned(), kind_name(seen).to_owned(), presence(seen.present - seen.unset, records), count, image]
}

fn presence(present: u64, records: u64) -> String {
    if present == records { "always".to_owned() } else { format!("in {}", units::count(present)) }
}

fn range_text(range: MinMax) -> String {
    if range.min == range.max {
        units::count(range.min)
    } else {
        format!("{}-{}", units::count(range.min), units::count(range.max))
    }
}

/// What a user would trip over.
fn remarks(profile: &Profile, pictures: &BTreeMap<Vec<u8>, Pictures>) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    for (key, seen) in profile.keys() {
        let kinds = seen.kinds();
        if kinds.len() > 1 {
            let kinds: Vec<String> = kinds
                .iter()
                .map(|(kind, records)| format!("{} in {}", kind.name(), units::plural(*records, "record")))
                .collect();
            remarks.push((
                keys::name(key),
                format!("the kind drifts ({}), so it is left out", kinds.join(", ")),
            ));
        }
        if seen.pictures.len() > 1 {
            let formats: Vec<String> = seen
                .pictures
                .iter()
                .map(|(format, records)| format!("{} {format}", units::count(*records)))
                .collect();
            remarks.push((keys::name(key), format!("pictures of several formats: {}", formats.join(", "))));
        }
    }
    for (key, seen) in pictures {
        if let Some((record, stored, format)) = &seen.first {
            let name = keys::name(key);
            let count = units::plural(seen.mislabelled, "picture");
            remarks.push((
                name,
                format!(
                    "the stored format is wrong for {count}: record {record} says {stored:?} but is {format}"
                ),
            ));
        }
    }
    remarks
}
