//! `pixels-bench FOLDER [ROUNDS] [WORD]`: thread CPU time of each job over the JPEG files of a folder, all jobs
//! interleaved picture by picture, the least of the rounds counted. With a word, only the jobs that have it in their
//! names, and libjpeg-turbo's decode.

mod turbo;

use std::fs;
use std::hint::black_box;
use std::path::Path;

use fast_image_resize::{FilterType, PixelType as FirType, ResizeAlg, ResizeOptions, Resizer, images};
use tfrmap::image::jpeg::{self, Decoder, Output};
use tfrmap::image::{
    Augment, AugmentKey, Image, ImageSpec, ImageWorker, Layout, Method, PixelType, PixelsMut, RandomResizedCrop,
};

const SIDE: u32 = 224;
const LEN: usize = (SIDE * SIDE * 3) as usize;

/// Nanoseconds of CPU that this thread has used.
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A picture, encoded and decoded.
struct Photo {
    bytes: Vec<u8>,
    image: Image,
    record: u64,
}

type Job = (&'static str, Box<dyn FnMut(&Photo)>);

fn worker(spec: ImageSpec) -> Box<dyn FnMut(&Photo)> {
    let mut worker = ImageWorker::new();
    let (mut bytes, mut floats) = (vec![0; LEN], vec![0.0; LEN]);
    Box::new(move |photo| {
        let out = match spec.pixel_type() {
            PixelType::U8 => PixelsMut::U8(&mut bytes),
            PixelType::F32 => PixelsMut::F32(&mut floats),
        };
        let key = AugmentKey { seed: 1, epoch: 0, record: photo.record };
        worker.run(&photo.bytes, &spec, key, out).unwrap();
        black_box((&bytes, &floats));
    })
}

fn resize(spec: ImageSpec) -> Box<dyn FnMut(&Photo)> {
    let mut worker = ImageWorker::new();
    let (mut bytes, mut floats) = (vec![0; LEN], vec![0.0; LEN]);
    Box::new(move |photo| {
        let out = match spec.pixel_type() {
            PixelType::U8 => PixelsMut::U8(&mut bytes),
            PixelType::F32 => PixelsMut::F32(&mut floats),
        };
        worker.run_decoded(&photo.image, &spec, AugmentKey::default(), out).unwrap();
        black_box((&bytes, &floats));
    })
}

/// fast_image_resize on 8-bit pixels, and if asked for the conversion to f32.
fn fir(algorithm: ResizeAlg, floats: bool) -> Box<dyn FnMut(&Photo)> {
    let mut resizer = Resizer::new();
    let mut out = images::Image::new(SIDE, SIDE, FirType::U8x3);
    let mut values = vec![0.0f32; LEN];
    Box::new(move |photo| {
        let Image { width, height, pixels, .. } = &photo.image;
        let source = images::ImageRef::new(*width, *height, pixels, FirType::U8x3).unwrap();
        resizer.resize(&source, &mut out, &ResizeOptions::new().resize_alg(algorithm)).unwrap();
        if floats {
            for (value, byte) in values.iter_mut().zip(out.buffer()) {
                *value = f32::from(*byte) * (1.0 / 255.0);
            }
        }
        black_box((&out, &values));
    })
}

fn jobs() -> Vec<Job> {
    let plain = || ImageSpec::rgb(SIDE, SIDE);
    let augment = Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 };
    let mut turbo = turbo::Turbo::new();
    let mut turbo_pixels = Vec::new();
    let (mut decoder, mut decoded) = (Decoder::new(), Vec::new());
    let options = jpeg::Options { output: Output::Rgb, ..jpeg::Options::default() };
    let convolution = |filter| ResizeAlg::Convolution(filter);
    vec![
        ("libjpeg-turbo, decode alone", Box::new(move |p: &Photo| {
            turbo.decode(&p.bytes, &mut turbo_pixels);
            black_box(&turbo_pixels);
        })),
        ("our decode alone", Box::new(move |p: &Photo| {
            decoder.decode_into(&p.bytes, &options, &mut decoded).unwrap();
            black_box(&decoded);
        })),
        ("bytes to f32 NHWC", worker(plain())),
        ("bytes to u8 NHWC", worker(plain().dtype(PixelType::U8))),
        ("bytes to f32 NCHW", worker(plain().layout(Layout::Nchw))),
        ("bytes to f32, mean and std", worker(plain().normalize(&[0.485, 0.456, 0.406], &[0.229, 0.224, 0.225]))),
        ("bytes to f32, random crop and flip", worker(plain().augment(augment))),
        ("imagenet_train", worker(ImageSpec::imagenet_train(SIDE))),
        ("imagenet_eval", worker(ImageSpec::imagenet_eval(256, SIDE))),
        ("resize bilinear f32", resize(plain())),
        ("resize bilinear u8", resize(plain().dtype(PixelType::U8))),
        ("resize bilinear antialias f32", resize(plain().antialias(true))),
        ("resize bicubic f32", resize(plain().method(Method::Bicubic))),
        ("resize area f32", resize(plain().method(Method::Area))),
        ("resize lanczos3 antialias f32", resize(plain().method(Method::Lanczos3).antialias(true))),
        ("resize pillow_bilinear u8", resize(plain().method(Method::PillowBilinear).dtype(PixelType::U8))),
        ("resize pillow_bicubic u8", resize(plain().method(Method::PillowBicubic).dtype(PixelType::U8))),
        ("resize pillow_lanczos u8", resize(plain().method(Method::PillowLanczos).dtype(PixelType::U8))),
        ("fast_image_resize 2-tap, to f32", fir(ResizeAlg::Interpolation(FilterType::Bilinear), true)),
        ("fast_image_resize 2-tap u8", fir(ResizeAlg::Interpolation(FilterType::Bilinear), false)),
        ("fast_image_resize bilinear u8", fir(convolution(FilterType::Bilinear), false)),
        ("fast_image_resize bicubic u8", fir(convolution(FilterType::CatmullRom), false)),
        ("fast_image_resize lanczos3 u8", fir(convolution(FilterType::Lanczos3), false)),
        ("image crate, Triangle u8", Box::new(|p: &Photo| {
            let Image { width, height, pixels, .. } = &p.image;
            let view = image::ImageBuffer::<image::Rgb<u8>, _>::from_raw(*width, *height, &pixels[..]).unwrap();
            black_box(image::imageops::resize(&view, SIDE, SIDE, image::imageops::FilterType::Triangle));
        })),
    ]
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().expect("usage: pixels-bench FOLDER [ROUNDS] [WORD]");
    let rounds: usize = args.next().map_or(5, |n| n.parse().unwrap());
    let photos = load(Path::new(&folder));
    let word = args.next().unwrap_or_default();
    let mut jobs = jobs();
    let mut place = 0..;
    jobs.retain(|(name, _)| place.next() == Some(0) || name.contains(&word));
    let mut best = vec![vec![u64::MAX; photos.len()]; jobs.len()];
    for round in 0..=rounds {
        for (i, photo) in photos.iter().enumerate() {
            for (j, (_, job)) in jobs.iter_mut().enumerate() {
                let began = cpu_time();
                job(photo);
                // The first round warms up.
                if round > 0 {
                    best[j][i] = best[j][i].min(cpu_time() - began);
                }
            }
        }
    }
    let sums: Vec<u64> = best.iter().map(|times| times.iter().sum()).collect();
    let n = photos.len();
    println!("{n} photographs, least of {rounds} rounds, thread CPU time a picture; speed against libjpeg-turbo's decode");
    for ((name, _), sum) in jobs.iter().zip(&sums) {
        let micros = *sum as f64 / n as f64 / 1000.0;
        println!("{name:40} {micros:9.1} us  {:6.2}", sums[0] as f64 / *sum as f64);
    }
}

fn load(folder: &Path) -> Vec<Photo> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut photos = Vec::new();
    let options = jpeg::Options { output: Output::Rgb, ..jpeg::Options::default() };
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "jpg")) {
        let bytes = fs::read(path).unwrap();
        let picture = jpeg::decode(&bytes, &options).unwrap();
        let image =
            Image { height: picture.height, width: picture.width, channels: 3, pixels: picture.pixels };
        photos.push(Photo { bytes, image, record: photos.len() as u64 });
    }
    assert!(!photos.is_empty(), "no .jpg in {}", folder.display());
    photos
}
