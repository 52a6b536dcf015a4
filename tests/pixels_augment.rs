//! Fear: the random crop depends on threads, batch or history, is not what torchvision draws, or shows other pixels than
//! a crop of the whole picture.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tfrmap::image::{
    Applied, Augment, AugmentKey, Image, ImageSpec, ImageWorker, Method, PixelType, PixelsMut,
    RandomResizedCrop,
};

fn photo(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/images/inputs").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn augmented(height: u32, width: u32) -> ImageSpec {
    ImageSpec::rgb(height, width).augment(Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 })
}

/// What is drawn for pictures of a size, without the cost of real ones.
fn draw(spec: &ImageSpec, height: u32, width: u32, key: AugmentKey) -> Applied {
    let pixels = vec![0; height as usize * width as usize];
    let image = Image { height, width, channels: 1, pixels };
    let mut out = [0.0; 1];
    ImageWorker::new().run_decoded(&image, spec, key, PixelsMut::F32(&mut out)).unwrap()
}

#[test]
fn draws_are_a_pure_function_of_the_key() {
    let bytes = photo("photo_chelsea_451x300_444.jpg");
    let spec = augmented(32, 32);
    let keys: Vec<AugmentKey> =
        (0..24).map(|i| AugmentKey { seed: i % 3, epoch: i % 5, record: i }).collect();
    let run = |worker: &mut ImageWorker, key| {
        let mut out = vec![0.0; 32 * 32 * 3];
        let applied = worker.run(&bytes, &spec, key, PixelsMut::F32(&mut out)).unwrap();
        (applied, out)
    };
    let mut one = ImageWorker::new();
    let forwards: Vec<_> = keys.iter().map(|key| run(&mut one, *key)).collect();
    let mut backwards: Vec<_> = keys.iter().rev().map(|key| run(&mut ImageWorker::new(), *key)).collect();
    backwards.reverse();
    assert!(forwards == backwards);
    // No two keys in a row give the same; each part of a key counts.
    assert!(forwards.windows(2).all(|pair| pair[0].0 != pair[1].0));
    let base = AugmentKey { seed: 1, epoch: 2, record: 3 };
    let others = [
        AugmentKey { seed: 2, ..base },
        AugmentKey { epoch: 3, ..base },
        AugmentKey { record: 4, ..base },
        AugmentKey { seed: 2, epoch: 1, record: 3 },
    ];
    assert!(others.iter().all(|key| run(&mut one, *key).0 != run(&mut one, base).0));
}

/// The draws themselves are part of the contract: a resumed run must go on with the same pictures after an update.
#[test]
fn draws_stay_the_same_from_release_to_release() {
    let spec = ImageSpec::gray(1, 1).augment(Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 });
    let drawn: Vec<_> = (0..6)
        .map(|i| {
            let key = AugmentKey { seed: 3 * i, epoch: i, record: 1000 * i };
            let applied = draw(&spec, 375, 500, key);
            (applied.crop, applied.flipped)
        })
        .collect();
    assert_eq!(drawn, GOLDEN_DRAWS);
}

const GOLDEN_DRAWS: [([u32; 4], bool); 6] = [
    ([21, 101, 286, 261], false),
    ([94, 180, 218, 178], false),
    ([2, 30, 357, 391], true),
    ([47, 40, 316, 280], true),
    ([40, 48, 135, 166], false),
    ([26, 62, 347, 373], false),
];

#[test]
fn areas_aspects_places_and_flips_are_uniform() {
    let spec = ImageSpec::gray(1, 1).augment(Augment {
        crop: Some(RandomResizedCrop { area: (0.1, 0.4), aspect: (0.5, 2.0) }),
        flip: 0.3,
    });
    const N: usize = 4000;
    let (h, w) = (400, 400);
    let draws: Vec<Applied> =
        (0..N as u64).map(|record| draw(&spec, h, w, AugmentKey { seed: 5, epoch: 0, record })).collect();
    // Each share as its place within the range it must be uniform in.
    let spread = |name: &str, shares: Vec<f64>| {
        let mut bins = [0.0; 10];
        for share in &shares {
            bins[((share * 10.0) as usize).min(9)] += 1.0;
        }
        let expected = N as f64 / 10.0;
        let chi: f64 = bins.iter().map(|n: &f64| (n - expected).powi(2) / expected).sum();
        // 9 degrees of freedom: above 30 once in 2,500 runs; the draws are fixed.
        assert!(chi < 30.0, "{name}: chi square {chi}, {bins:?}");
    };
    let area = |d: &Applied| f64::from(d.crop[2] * d.crop[3]) / f64::from(h * w);
    let aspect = |d: &Applied| f64::from(d.crop[3]) / f64::from(d.crop[2]);
    spread("area", draws.iter().map(|d| (area(d) - 0.1) / 0.3).collect());
    spread("aspect", draws.iter().map(|d| (aspect(d).ln() / 2f64.ln() + 1.0) / 2.0).collect());
    let place = |from: u32, len: u32, size: u32| (f64::from(from) + 0.5) / f64::from(size - len + 1);
    spread("y", draws.iter().map(|d| place(d.crop[0], d.crop[2], h)).collect());
    spread("x", draws.iter().map(|d| place(d.crop[1], d.crop[3], w)).collect());
    let flips = draws.iter().filter(|d| d.flipped).count() as f64 / N as f64;
    assert!((flips - 0.3).abs() < 0.03, "{flips} flipped");
}

#[test]
fn pictures_where_no_crop_fits_give_the_largest_centred_part() {
    let spec = ImageSpec::gray(1, 1).augment(Augment {
        crop: Some(RandomResizedCrop { area: (1.0, 1.0), aspect: (0.75, 4.0 / 3.0) }),
        flip: 0.0,
    });
    let key = AugmentKey { seed: 1, epoch: 1, record: 1 };
    assert_eq!(draw(&spec, 30, 300, key).crop, [0, 130, 30, 40]);
    assert_eq!(draw(&spec, 300, 30, key).crop, [130, 0, 40, 30]);
    assert_eq!(draw(&spec, 1, 1, key).crop, [0, 0, 1, 1]);
}

/// The pixels of a window, mirrored if need be, resized without any augmentation.
fn reference(bytes: &[u8], spec: &ImageSpec, applied: &Applied, size: [u32; 2]) -> Vec<f32> {
    let [y, x, h, w] = applied.crop;
    let plain = spec.clone().augment(Augment::default());
    let mut window = vec![0; (h * w * 3) as usize];
    let cut = ImageSpec::rgb(h, w).dtype(PixelType::U8).method(Method::Nearest).crop(y, x, h, w);
    let mut worker = ImageWorker::new();
    worker.run(bytes, &cut, AugmentKey::default(), PixelsMut::U8(&mut window)).unwrap();
    let image = Image { height: h, width: w, channels: 3, pixels: window };
    let mut out = vec![0.0; (size[0] * size[1] * 3) as usize];
    worker.run_decoded(&image, &plain, AugmentKey::default(), PixelsMut::F32(&mut out)).unwrap();
    if applied.flipped {
        for row in out.chunks_exact_mut(size[1] as usize * 3) {
            row.reverse();
            row.chunks_exact_mut(3).for_each(<[f32]>::reverse);
        }
    }
    out
}

#[test]
fn cropped_pixels_are_those_of_the_whole_picture() {
    let photos = ["photo_chelsea_451x300_444.jpg", "photo_astronaut_375x500_opt.jpg", "png_rgba8_adam7.png"];
    let methods = [
        (Method::Bilinear, false),
        (Method::Bilinear, true),
        (Method::Bicubic, false),
        (Method::Nearest, false),
        (Method::Area, false),
        (Method::Lanczos3, true),
        (Method::PillowBilinear, false),
        (Method::PillowBicubic, false),
    ];
    let mut worker = ImageWorker::new();
    for (i, photo_name) in photos.iter().enumerate() {
        let bytes = photo(photo_name);
        for (j, (method, antialias)) in methods.iter().enumerate() {
            for record in 0..6 {
                let size = [31 + record as u32, 64 - i as u32];
                let spec = augmented(size[0], size[1]).method(*method).antialias(*antialias);
                let key = AugmentKey { seed: j as u64, epoch: i as u64, record };
                let mut out = vec![f32::NAN; (size[0] * size[1] * 3) as usize];
                let applied = worker.run(&bytes, &spec, key, PixelsMut::F32(&mut out)).unwrap();
                let want = reference(&bytes, &spec, &applied, size);
                assert!(out == want, "{photo_name} {method:?} {applied:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn crops_lie_inside_any_picture(h in 1u32..3000, w in 1u32..40, record: u64, low in 0.01f64..1.0, wide: bool) {
        let (h, w) = if wide { (w, h) } else { (h, w) };
        let spec = ImageSpec::gray(1, 1).augment(Augment {
            crop: Some(RandomResizedCrop { area: (low, 1.0), aspect: (0.1, 5.0) }), flip: 0.5,
        });
        let applied = draw(&spec, h, w, AugmentKey { seed: 0, epoch: 9, record });
        let [y, x, ch, cw] = applied.crop;
        prop_assert!(ch >= 1 && cw >= 1 && y + ch <= h && x + cw <= w, "{applied:?}");
        prop_assert_eq!(applied.source, [h, w]);
    }
}
