//! From TFRecord files to shuffled batches of pictures, in one go.
//!
//! `cargo run --release --example quickstart` makes a small set of pictures and does everything on it;
//! `cargo run --release --example quickstart -- PATH` does the same on your own file, folder or pattern.

#[path = "shapes/mod.rs"]
mod shapes;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tfrmap::image::sheet::{self, Tile};
use tfrmap::image::{DecodeOptions, decode};
use tfrmap::{Dataset, DatasetWriter, Example, ExampleBuilder, FeatureSpec};

const SHARDS: usize = 4;
const PICTURES: u64 = 600;
const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let (path, out) = match std::env::args_os().nth(1) {
        Some(path) => (PathBuf::from(path), PathBuf::from("quickstart-sheet.png")),
        None => {
            let folder = std::env::temp_dir().join("tfrmap-quickstart");
            write_shapes(&folder)?;
            (folder.join("shapes-*"), folder.join("sheet.png"))
        }
    };

    let dataset = Dataset::open(&path)?;
    println!("{}: {} records in {} shards", path.display(), dataset.len(), dataset.shards().len());
    println!("columns found in the records:\n{}", dataset.features()?);

    for epoch in 0..2 {
        let start = Instant::now();
        let mut images = 0;
        let mut first_labels = Vec::new();
        for batch in dataset.clone().shuffled(SEED).epoch(epoch).batches(10) {
            let batch = batch?;
            if images == 0 {
                println!("epoch {epoch}: a batch of images has shape {:?}", batch.images()?.shape());
                first_labels = batch.labels().map(<[i64]>::to_vec).unwrap_or_default();
            }
            images += batch.len();
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "epoch {epoch}: {images} images, {:.0} images/s, first labels {first_labels:?}",
            images as f64 / seconds
        );
    }

    save_sheet(&dataset, &out)?;
    println!("contact sheet: {}", out.display());
    Ok(())
}

/// Writes pictures of coloured shapes as a sharded set, sorted by class as people's files often are.
fn write_shapes(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let mut writer = DatasetWriter::overwrite_sharded(folder.join("shapes"), SHARDS)?;
    for i in 0..PICTURES {
        let class = i * shapes::CLASSES.len() as u64 / PICTURES;
        let picture = shapes::draw(class as usize, i);
        let (height, width) = (picture.height as u32, picture.width as u32);
        let example = ExampleBuilder::new()
            .image(shapes::jpeg(&picture, i)?, "jpeg", height, width)
            .label(class as i64)
            .text(shapes::CLASSES[class as usize]);
        writer.write(&example.encode())?;
    }
    writer.finish()?;
    println!("wrote {PICTURES} pictures to {}", folder.display());
    Ok(())
}

/// Saves the first twenty pictures of the shuffled order with their record numbers and labels.
fn save_sheet(dataset: &Dataset, out: &Path) -> Result<(), Box<dyn Error>> {
    let features = dataset.features()?;
    let image = features.iter().find(|(_, spec)| matches!(spec, FeatureSpec::Image(_))).map(|(key, _)| key);
    let image = image.ok_or("no feature holds a picture")?;
    let shuffled = dataset.clone().shuffled(SEED);
    let mut tiles = Vec::new();
    for position in 0..shuffled.len().min(20) {
        let record = shuffled.get(position)?;
        let example = Example::parse(&record)?;
        let encoded = example.get(image).and_then(|feature| feature.bytes().next()).unwrap_or_default();
        let label = features.label_key().ok().and_then(|key| example.get(key)?.int64s().next());
        let text = example.get("image/class/text").and_then(|text| text.bytes().next()).unwrap_or_default();
        tiles.push(Tile {
            picture: decode(encoded, &DecodeOptions::default()).map_err(|error| error.to_string()),
            title: format!("#{}", shuffled.record_number(position)?),
            label: label.map_or(String::new(), |label| format!("{label} {}", String::from_utf8_lossy(text))),
            boxes: Vec::new(),
        });
    }
    std::fs::write(out, sheet::draw(&tiles, 160).encode_png()?)?;
    Ok(())
}
