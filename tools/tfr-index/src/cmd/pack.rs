//! `pack`: pictures to TFRecords with the keys of TensorFlow's slim.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use image::codecs::jpeg::JpegEncoder;
use rayon::prelude::*;
use serde_json::json;
use tfrmap::image::{
    AugmentKey, DecodeOptions, Format, ImageSpec, ImageWorker, Limits, Method, PixelType, PixelsMut, decode,
};
use tfrmap::{DatasetWriter, ExampleBuilder, Order};

use crate::atomic;
use crate::classes::{self, Collection, Item};
use crate::failure::{Exit, Failure, Result};
use crate::output::{self, Output, Tone};
use crate::progress::{Progress, Unit};
use crate::shards;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index pack photos/ --out train.tfrecord                       photos/CLASS/*.jpg
  tfr-index pack photos/ --out data/train --shards 16 --seed 1      16 shards, classes mixed
  tfr-index pack photos/ --labels rows.csv --out train.tfrecord     rows of path,label
  tfr-index pack photos/ --out small --resize 256 --quality 90      larger ones re-encoded

A record has image/encoded, image/format, image/height, image/width, image/class/label, image/class/text and \
image/filename. OUT.labels.txt lists the classes as slim does. Every picture is decoded once: what cannot be is reported \
and left out. A picture's bytes stay as they are unless --resize or --quality re-encodes it as JPEG, turned upright.";

/// Pack pictures (a folder for each class, or a CSV) into TFRecords with slim's keys.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder of pictures.
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The file to write; with --shards the beginning of the files' names.
    #[arg(long, value_name = "PREFIX")]
    out: PathBuf,

    /// Write N files PREFIX-00000-of-0000N.
    #[arg(long, value_name = "N", default_value_t = 1)]
    shards: usize,

    /// Take pictures and labels from a CSV of path,label; labels are numbers or names.
    #[arg(long, value_name = "F.csv")]
    labels: Option<PathBuf>,

    /// Mix the pictures by this seed; without it they are in order of class and name.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// Make the short side this long, in pictures where it is longer.
    #[arg(long, value_name = "SHORT_SIDE", value_parser = clap::value_parser!(u32).range(1..=65535))]
    resize: Option<u32>,

    /// The JPEG quality of pictures that are re-encoded; without --resize all JPEGs and PNGs are.
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,

    /// Replace outputs that exist.
    #[arg(long)]
    force: bool,
}

/// The quality where only a size is given.
const QUALITY: u8 = 90;
/// Pictures held in memory at once, for each thread.
const WINDOW: usize = 16;

/// A picture as it is to be stored.
struct Picture {
    encoded: Vec<u8>,
    format: &'static str,
    height: u32,
    width: u32,
    /// The length of the file it came from.
    original: usize,
}

/// Packs and reports.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    let names = shards::names(&args.out, args.shards)?;
    let labels = labels_path(&args.out);
    let outputs: Vec<PathBuf> = names.into_iter().chain([labels.clone()]).collect();
    for name in &outputs {
        atomic::refuse_existing(name, args.force)?;
    }
    let mut collection = match &args.labels {
        Some(csv) => classes::from_csv(&args.dir, csv)?,
        None => classes::from_folders(&args.dir)?,
    };
    if args.force {
        let pictures = collection.items.iter().map(|item| item.path.clone());
        atomic::refuse_inputs(&outputs, &pictures.chain(args.labels.clone()).collect::<Vec<_>>())?;
    }
    shuffle(&mut collection, args.seed);
    let mut writer = shards::create(&args.out, args.shards, args.force)?;
    let mut tally = pack(args, &collection, &mut writer, out)?;
    for stray in collection.stray.iter().filter(|path| format_of(path).is_some()) {
        odd(out, stray, "this picture is in no class folder")?;
        tally.skipped += 1;
    }
    if tally.written == 0 {
        return Err(Failure::data(format!(
            "{}: no picture could be packed, so nothing was written",
            args.dir.display()
        )));
    }
    let text: String = collection.classes.iter().map(|(number, name)| format!("{number}:{name}\n")).collect();
    writer.finish()?;
    atomic::write(&labels, args.force, text.as_bytes())?;
    summary(args, &collection, &tally, out)?;
    Ok(Exit::Fine)
}

#[derive(Default)]
struct Tally {
    written: u64,
    skipped: u64,
    original: u64,
    stored: u64,
}

fn shuffle(collection: &mut Collection, seed: Option<u64>) {
    let Some(seed) = seed else { return };
    let mut items: Vec<Option<Item>> = collection.items.drain(..).map(Some).collect();
    let order = Order::shuffled(items.len() as u64, seed, 0);
    collection.items = (0..order.len()).filter_map(|i| items[order.at(i) as usize].take()).collect();
}

fn pack(args: &Args, collection: &Collection, writer: &mut DatasetWriter, out: &mut Output) -> Result<Tally> {
    let items = &collection.items;
    let bar = Progress::new("Packing", Unit::Images, items.len() as u64);
    let mut tally = Tally::default();
    let window = WINDOW * rayon::current_num_threads();
    for (number, items) in items.chunks(window).enumerate() {
        let pictures: Vec<_> =
            items.par_iter().map_init(ImageWorker::new, |worker, item| load(args, worker, item)).collect();
        for (i, (item, picture)) in items.iter().zip(pictures).enumerate() {
            bar.add(1);
            let picture = match picture {
                Ok(picture) => picture,
                Err(reason) => {
                    odd(out, &item.path, &reason)?;
                    tally.skipped += 1;
                    continue;
                }
            };
            tally.written += 1;
            tally.original += picture.original as u64;
            tally.stored += picture.encoded.len() as u64;
            let position = (number * window + i) as u64;
            writer.write_to(
                shards::of(position, collection.items.len() as u64, args.shards),
                &record(item, picture),
            )?;
        }
    }
    Ok(tally)
}

fn record(item: &Item, picture: Picture) -> Vec<u8> {
    let name = item.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ExampleBuilder::new()
        .image(picture.encoded, picture.format, picture.height, picture.width)
        .label(item.label)
        .text(&item.class)
        .bytes("image/filename", name)
        .encode()
}

/// Reads, checks and where asked for re-encodes a picture; an error says what is odd about it.
fn load(args: &Args, worker: &mut ImageWorker, item: &Item) -> Result<Picture, String> {
    let encoded = read(&item.path)?;
    let original = encoded.len();
    let format = Format::of(&encoded).map_or("", Format::name);
    let recode = args.resize.is_some() || args.quality.is_some();
    let options = DecodeOptions { exif: recode, ..DecodeOptions::default() };
    let decoded = decode(&encoded, &options).map_err(|error| error.to_string())?;
    let (height, width) = (decoded.height, decoded.width);
    let target = match args.resize {
        Some(short) if height.min(width) > short => scaled(height, width, short),
        None if args.quality.is_some() => [height, width],
        _ => {
            // As they are stored: a camera's orientation is not applied.
            let plain = DecodeOptions::default();
            let (height, width) = match recode {
                true => decode(&encoded, &plain)
                    .map(|d| (d.height, d.width))
                    .map_err(|error| error.to_string())?,
                false => (height, width),
            };
            return Ok(Picture { encoded, format, height, width, original });
        }
    };
    let pixels = if target == [height, width] {
        decoded.pixels
    } else {
        let [height, width] = target;
        let spec =
            ImageSpec::rgb(height, width).method(Method::PillowLanczos).dtype(PixelType::U8).exif(true);
        let mut pixels = vec![0; height as usize * width as usize * 3];
        worker
            .run(&encoded, &spec, AugmentKey::default(), PixelsMut::U8(&mut pixels))
            .map_err(|error| error.to_string())?;
        pixels
    };
    let [height, width] = target;
    let (Ok(h), Ok(w)) = (u16::try_from(height), u16::try_from(width)) else {
        return Err(format!("{height} x {width} pixels are too many for a JPEG"));
    };
    let mut encoded = Vec::new();
    JpegEncoder::new_with_quality(&mut encoded, args.quality.unwrap_or(QUALITY))
        .encode(&pixels, w.into(), h.into(), image::ExtendedColorType::Rgb8)
        .map_err(|error| error.to_string())?;
    Ok(Picture { encoded, format: "JPEG", height, width, original })
}

/// The file, unless it is none, too long, or no picture by its first bytes.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let meta = path.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("this is no regular file".to_owned());
    }
    if meta.len() > Limits::default().bytes {
        return Err(format!("{} are too much for a picture", units::bytes(meta.len())));
    }
    if meta.len() == 0 {
        return Err("the file is empty".to_owned());
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn format_of(path: &Path) -> Option<Format> {
    let mut head = Vec::new();
    path.is_file().then(|| File::open(path).ok()).flatten()?.take(64).read_to_end(&mut head).ok()?;
    Format::of(&head)
}

/// Height and width in proportion, the shorter one `short`.
fn scaled(height: u32, width: u32, short: u32) -> [u32; 2] {
    let other = |long: u32, side: u32| {
        ((u64::from(long) * u64::from(short) * 2 + u64::from(side)) / (u64::from(side) * 2)).max(1) as u32
    };
    if height <= width { [short, other(width, height)] } else { [other(height, width), short] }
}

fn odd(out: &mut Output, path: &Path, message: &str) -> Result<()> {
    if out.is_json() {
        out.json(&json!({ "path": path.to_string_lossy(), "message": message }))
    } else {
        output::warn(format_args!("{}: {message}; left out", path.display()));
        Ok(())
    }
}

fn labels_path(prefix: &Path) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(".labels.txt");
    PathBuf::from(name)
}

fn summary(args: &Args, collection: &Collection, tally: &Tally, out: &mut Output) -> Result<()> {
    let recode = args.resize.is_some() || args.quality.is_some();
    if out.is_json() {
        return out.json(&json!({
            "written": tally.written,
            "skipped": tally.skipped,
            "classes": collection.classes.len(),
            "bytes_in": tally.original,
            "bytes_out": tally.stored,
        }));
    }
    out.text(out.paint(
        Tone::Bold,
        format_args!(
            "{} of {} written, {} left out",
            units::plural(tally.written, "picture"),
            if collection.classes.len() == 1 {
                "1 class".to_owned()
            } else {
                format!("{} classes", collection.classes.len())
            },
            units::count(tally.skipped)
        ),
    ))?;
    if recode {
        let gain = 100.0 * (1.0 - tally.stored as f64 / tally.original.max(1) as f64);
        out.text(format_args!(
            "re-encoded: {} became {} ({gain:.1} % less)",
            units::bytes(tally.original),
            units::bytes(tally.stored)
        ))?;
    }
    Ok(())
}
