//! Any bytes as a picture: no codec panics, and memory that another picture has used changes nothing.

use std::path::Path;

use tfrmap::ErrorKind;
use tfrmap::image::{
    Augment, AugmentKey, Damage, DecodeOptions, Fit, ImageSpec, ImageWorker, Limits, Method, PixelType,
    PixelsVec, RandomResizedCrop, Scale, decode,
};

use super::input;

const LIMITS: Limits = Limits { pixels: 1 << 18, bytes: 1 << 20 };

pub fn run(data: &[u8]) {
    let Some((&[ways, more, size], bytes)) = data.split_first_chunk() else { return };
    let damage = if ways & 1 == 0 { Damage::Strict } else { Damage::Lenient };
    let options = DecodeOptions {
        channels: [1, 3, 4][usize::from(more % 3)],
        damage,
        exif: ways & 2 != 0,
        limits: LIMITS,
        ..DecodeOptions::default()
    };
    match decode(bytes, &options) {
        Ok(image) => {
            let pixels = u64::from(image.height) * u64::from(image.width);
            assert!(0 < pixels && pixels <= LIMITS.pixels);
            assert_eq!(image.pixels.len() as u64, pixels * u64::from(image.channels));
            assert_eq!(image.channels, options.channels);
            assert_eq!(decode(bytes, &options).unwrap(), image);
        }
        Err(error) => assert_ne!(*error.kind(), ErrorKind::Panicked, "{error}"),
    }
    let spec = spec(ways, more, size).damage(damage).exif(options.exif).limits(LIMITS);
    let key = AugmentKey { seed: 1, epoch: 2, record: u64::from(size) };
    let fresh = resized(&mut ImageWorker::new(), bytes, &spec, key);
    let mut used = ImageWorker::new();
    let _ = resized(&mut used, OTHER, &spec, key);
    assert_eq!(fresh, resized(&mut used, bytes, &spec, key));
}

/// A valid picture: a PNG of one pixel row.
const OTHER: &[u8] = include_bytes!("../../tests/data/cases/img/D19a_png_rgb_named_jpeg.png");

fn spec(ways: u8, more: u8, size: u8) -> ImageSpec {
    let (height, width) = (1 + u32::from(size % 8) * 5, 1 + u32::from(size / 8));
    let spec = if ways & 4 == 0 { ImageSpec::rgb(height, width) } else { ImageSpec::gray(height, width) };
    let methods = [Method::Bilinear, Method::Nearest, Method::Bicubic, Method::Area, Method::Lanczos3];
    let fit = [Fit::Stretch, Fit::CenterCrop, Fit::Pad][usize::from(more / 16 % 3)];
    let method = methods[usize::from(more / 3 % 5)];
    let spec = spec.method(method).fit(fit);
    let spec = if ways & 8 == 0 { spec } else { spec.dtype(PixelType::U8) };
    let spec = if ways & 16 == 0 { spec } else { spec.scale(Scale::After) };
    let spec = if ways & 32 == 0 { spec } else { spec.antialias(true) };
    match ways >> 6 {
        1 => spec.augment(Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 }),
        2 => spec.crop(u32::from(more) % 4, u32::from(size) % 4, 3, 2),
        _ => spec,
    }
}

/// The bits of what the worker makes of the picture, or the error's class.
fn resized(
    worker: &mut ImageWorker,
    bytes: &[u8],
    spec: &ImageSpec,
    key: AugmentKey,
) -> Result<Vec<u32>, &'static str> {
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    let out = match spec.pixel_type() {
        PixelType::F32 => PixelsVec::F32(&mut floats),
        PixelType::U8 => PixelsVec::U8(&mut ints),
    };
    match worker.run_keep(bytes, spec, key, out) {
        Ok((shape, _)) => {
            assert!(floats.iter().all(|value: &f32| value.is_finite()));
            let bits: Vec<u32> = floats
                .iter()
                .map(|value| value.to_bits())
                .chain(ints.iter().copied().map(u32::from))
                .collect();
            assert_eq!(shape.iter().product::<usize>(), bits.len());
            Ok(bits)
        }
        Err(error) => {
            assert_ne!(*error.kind(), ErrorKind::Panicked, "{error}");
            Err(error.kind().name())
        }
    }
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/img"), data.join("golden/images/inputs")];
    let files = folders.iter().flat_map(|folder| input::contents(folder, 2500));
    files
        .enumerate()
        .map(|(i, file)| [&[(i * 37) as u8, (i * 11) as u8, (i * 29) as u8][..], &file].concat())
        .collect()
}
