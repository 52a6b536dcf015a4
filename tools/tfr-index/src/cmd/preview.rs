//! `preview`: a contact sheet of pictures with their labels.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, RgbImage, imageops};
use rayon::prelude::*;
use serde_json::json;
use tfrmap::image::sheet::{self, Tile};
use tfrmap::image::{DecodeOptions, Image, decode};
use tfrmap::{Dataset, Error, Example, Feature, Features};

use crate::atomic;
use crate::failure::{Exit, Failure, Result};
use crate::input::Input;
use crate::keys;
use crate::labels::Labels;
use crate::output::{self, Output};
use crate::progress::{Progress, Unit};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index preview data/ --out sheet.png                    the first 20 pictures
  tfr-index preview data/ --out sheet.png --seed 1           20 of the whole set at random
  tfr-index preview data/ --out sheet.png --labels labels.txt --count 60

Labels are image/class/text, else the name in the labels file, else the number. Boxes are drawn where there are \
image/object/bbox/xmin, ymin, xmax, ymax.";

/// Draw a contact sheet of pictures with record numbers, labels and boxes.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,

    /// The picture to write: PNG, or JPEG where the name ends in .jpg or .jpeg.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// How many pictures.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,

    /// Take them from the set shuffled by this seed, instead of from its beginning.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// Names of classes: lines `0:daisy`, or a name a line from 0 on.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// The feature that holds the picture, where there are several.
    #[arg(long, value_name = "KEY")]
    image: Option<OsString>,

    /// Fit each picture into a square of this many pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 224, value_parser = clap::value_parser!(u32).range(48..=1024))]
    tile: u32,

    /// Replace the output if it exists.
    #[arg(long)]
    force: bool,
}

/// The largest sheet: more would fill the memory, and few programs open it.
const PIXELS: u64 = 1 << 28;

/// Where things are in a record.
struct Plan {
    image: Vec<u8>,
    label: Option<Vec<u8>>,
    labels: Labels,
    side: u32,
}

/// Decodes, draws and writes.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let jpeg = is_jpeg(&args.out)?;
    atomic::refuse_existing(&args.out, args.force)?;
    let (width, height) = sheet::size(args.count as usize, args.tile);
    if u64::from(width) * u64::from(height) > PIXELS {
        return Err(Failure::usage(format!(
            "a sheet of {width} x {height} pixels is too large; lower --count or --tile"
        )));
    }
    let dataset = args.input.dataset_for(&args.out)?;
    let plan = plan(args, &dataset)?;
    let count = u64::from(args.count).min(dataset.len());
    let ordered = match args.seed {
        Some(seed) => dataset.shuffled(seed),
        None => dataset,
    };
    let bar = Progress::new("Decoding", Unit::Images, count);
    let tiles = (0..count)
        .into_par_iter()
        .map(|position| {
            let number = ordered.record_number(position)?;
            let tile = plan.tile(number, ordered.get(position));
            bar.add(1);
            Ok(tile)
        })
        .collect::<Result<Vec<(Tile, Option<String>)>>>()?;
    drop(bar);
    let (tiles, problems): (Vec<Tile>, Vec<Option<String>>) = tiles.into_iter().unzip();
    let problems: Vec<String> = problems.into_iter().flatten().collect();
    let encoded = encode(&sheet::draw(&tiles, args.tile), jpeg, &args.out)?;
    atomic::write(&args.out, args.force, &encoded)?;
    let (images, skipped) = (tiles.len() - problems.len(), problems.len());
    if out.is_json() {
        out.json(&json!({ "out": args.out.to_string_lossy(), "images": images, "skipped": skipped }))?;
    } else {
        out.text(format_args!("{}: {}", args.out.display(), units::plural(images as u64, "picture")))?;
    }
    out.flush()?;
    problems.iter().for_each(output::report);
    Ok(if problems.is_empty() { Exit::Fine } else { Exit::Wrong })
}

fn plan(args: &Args, dataset: &Dataset) -> Result<Plan> {
    if dataset.is_empty() {
        return Err(Failure::data("there is no record, so there is no picture to show"));
    }
    let features = dataset.features()?;
    let image = match &args.image {
        Some(key) => keys::parse(key),
        None => image_key(&features)?,
    };
    let labels = args.labels.as_deref().map(Labels::read).transpose()?.unwrap_or_default();
    Ok(Plan { image, label: features.label_key().ok().map(<[u8]>::to_vec), labels, side: args.tile })
}

fn image_key(features: &Features) -> Result<Vec<u8>> {
    let pictures: Vec<&[u8]> = features
        .iter()
        .filter(|(_, spec)| matches!(spec, tfrmap::FeatureSpec::Image(_)))
        .map(|(key, _)| key)
        .collect();
    match pictures[..] {
        [key] => Ok(key.to_vec()),
        [] => {
            let there: Vec<String> = features.iter().map(|(key, _)| keys::name(key)).collect();
            Err(Failure::data(format!(
                "no feature holds a picture (JPEG, PNG, GIF, BMP or WebP); the records have {}; `tfr-index schema` tells more",
                there.join(", ")
            )))
        }
        _ => {
            let there: Vec<String> = pictures.iter().map(|key| keys::name(key)).collect();
            Err(Failure::usage(format!(
                "there are several pictures in a record; choose with --image: {}",
                there.join(", ")
            )))
        }
    }
}

impl Plan {
    /// The tile of a record, and what is wrong with it.
    fn tile(&self, number: u64, record: tfrmap::Result<tfrmap::Record>) -> (Tile, Option<String>) {
        let mut tile = Tile {
            picture: Err(String::new()),
            title: format!("#{number}"),
            label: String::new(),
            boxes: Vec::new(),
        };
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                tile.picture = Err(short(&error));
                return (tile, Some(error.to_string()));
            }
        };
        let place =
            format!("{}: record {} at byte {}", record.path().display(), record.index(), record.offset());
        let name = keys::name(&self.image);
        let example = match Example::parse(&record) {
            Ok(example) => example,
            Err(error) => {
                tile.picture = Err(short(&error));
                return (tile, Some(format!("{place}: {error}")));
            }
        };
        tile.label = self.label(&example);
        tile.boxes = boxes(&example, &self.labels);
        let Some(encoded) = example.get(&self.image).and_then(|feature| feature.bytes().next()) else {
            tile.picture = Err(format!("no {name}"));
            return (tile, Some(format!("{place}, feature \"{name}\": there is no picture")));
        };
        match self.decode(encoded) {
            Ok((picture, size)) => {
                tile.title = format!("#{number}  {size}");
                tile.picture = Ok(picture);
                (tile, None)
            }
            Err(error) => {
                tile.picture = Err(short(&error));
                (tile, Some(format!("{place}, feature \"{name}\": {error}")))
            }
        }
    }

    /// The picture, fitted, and its real size as text.
    fn decode(&self, encoded: &[u8]) -> tfrmap::Result<(Image, String)> {
        let picture = decode(encoded, &DecodeOptions::default())?;
        let size = format!("{}x{}", picture.width, picture.height);
        if picture.width <= self.side && picture.height <= self.side {
            return Ok((picture, size));
        }
        // A thousand whole photographs would fill the memory.
        let (width, height) = sheet::fitted(picture.width, picture.height, self.side);
        let whole = RgbImage::from_raw(picture.width, picture.height, picture.pixels).unwrap_or_default();
        let pixels = imageops::thumbnail(&whole, width, height).into_raw();
        Ok((Image { height, width, channels: 3, pixels }, size))
    }

    fn label(&self, example: &Example<'_>) -> String {
        let text =
            |key: &str| example.get(key).map(|feature| texts(&feature)).filter(|texts| !texts.is_empty());
        if let Some(names) = text("image/class/text") {
            return names.join(", ");
        }
        let number =
            self.label.as_ref().and_then(|key| example.get(key)).and_then(|label| label.int64s().next());
        if let Some(number) = number {
            return self.labels.get(number).map_or_else(|| number.to_string(), str::to_owned);
        }
        let mut names = object_names(example, &self.labels);
        names.sort();
        names.dedup();
        names.join(", ")
    }
}

fn texts(feature: &Feature<'_>) -> Vec<String> {
    feature
        .bytes()
        .filter(|text| !text.is_empty())
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect()
}

fn object_names(example: &Example<'_>, labels: &Labels) -> Vec<String> {
    if let Some(names) = example.get("image/object/class/text").filter(|names| !names.is_empty()) {
        return names.bytes().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    }
    let numbers = example.get("image/object/class/label").or_else(|| example.get("image/object/bbox/label"));
    numbers.map_or(Vec::new(), |numbers| {
        numbers.int64s().map(|n| labels.get(n).map_or_else(|| n.to_string(), str::to_owned)).collect()
    })
}

fn boxes(example: &Example<'_>, labels: &Labels) -> Vec<sheet::Box> {
    let edge = |name: &str| -> Vec<f32> {
        example
            .get(format!("image/object/bbox/{name}"))
            .map_or(Vec::new(), |feature| feature.floats().collect())
    };
    let mut names = object_names(example, labels).into_iter();
    edge("ymin")
        .into_iter()
        .zip(edge("xmin"))
        .zip(edge("ymax"))
        .zip(edge("xmax"))
        .map(|(((ymin, xmin), ymax), xmax)| sheet::Box {
            ymin,
            xmin,
            ymax,
            xmax,
            name: names.next().unwrap_or_default(),
        })
        .collect()
}

/// What fits into a tile.
fn short(error: &Error) -> String {
    format!("{}: {}", error.kind().name(), error.reason())
}

/// Whether the name asks for a JPEG; it asks for a PNG otherwise.
fn is_jpeg(path: &Path) -> Result<bool> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let jpeg = ending == "jpg" || ending == "jpeg";
    if !(jpeg || ending.is_empty() || ending == "png") {
        let reason = "the sheet is written as PNG or JPEG; give --out a name that ends in .png or .jpg";
        return Err(Failure::usage(format!("{}: {reason}", path.display())));
    }
    Ok(jpeg)
}

fn encode(sheet: &Image, jpeg: bool, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let (width, height, colour) = (sheet.width, sheet.height, ExtendedColorType::Rgb8);
    let encoded = if jpeg {
        JpegEncoder::new_with_quality(&mut bytes, 90).write_image(&sheet.pixels, width, height, colour)
    } else {
        PngEncoder::new(&mut bytes).write_image(&sheet.pixels, width, height, colour)
    };
    encoded.map_err(|error| {
        Failure::usage(format!("{}: the sheet cannot be written: {error}", path.display()))
    })?;
    Ok(bytes)
}
