//! Simple pictures of ten classes, sorted by class, with noise on them: they need no data set and no network to get.

use std::path::Path;

use tfrmap::image::{ImageSpec, PixelType, Pixels};
use tfrmap::{DatasetWriter, ExampleBuilder};

/// Writes `each` grey pictures of 8 x 8 of every class: a bright bar, in one of five rows or one of five columns.
pub fn write(path: &Path, each: u64, seed: u64) {
    let spec = ImageSpec::keep_size().channels(1).dtype(PixelType::U8);
    let mut writer = DatasetWriter::create(path).unwrap();
    let mut state = seed;
    for class in 0..10_usize {
        for _ in 0..each {
            let pixels: Vec<u8> = (0..64)
                .map(|i| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let along = if class < 5 { i / 8 } else { i % 8 };
                    let bright = if along == class % 5 + 1 { 150 } else { 0 };
                    bright + (state >> 58) as u8
                })
                .collect();
            let png = spec.encode_png(Pixels::U8(&pixels), [8, 8, 1]).unwrap();
            let example = ExampleBuilder::new().image(png, "png", 8, 8).label(class as i64);
            writer.write(&example.encode()).unwrap();
        }
    }
    writer.finish().unwrap();
}
