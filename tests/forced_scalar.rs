//! Fear: a machine without AVX2 gets other pixels than the ones that were compared with TensorFlow's.
//!
//! Decodes, resizes and batches the golden pictures twice: here, with the kernels that all other tests hold to the golden
//! pixels, and in a child process that is told to have no vectors. (That it listens is tested beside the switch.)
#![cfg(target_arch = "x86_64")]

mod pixels_support;

use std::fs;
use std::path::{Path, PathBuf};

use pixels_support::{le_bytes, sha256};
use tfrmap::image::jpeg::{self, Output};
use tfrmap::image::{
    AugmentKey, Coordinates, Damage, Dct, Fit, ImageSpec, ImageWorker, Layout, Method, PixelType, PixelsVec,
    Scale,
};
use tfrmap::{DatasetWriter, ExampleBuilder, Features, OnError};

fn pictures() -> Vec<(PathBuf, Vec<u8>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folders = [data.join("golden/images/inputs"), data.join("cases/img")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// What goes through each kernel: two taps, weighted sums, Pillow's passes, bytes and floats, both layouts.
fn specs() -> Vec<ImageSpec> {
    use Method::*;
    let sized = ImageSpec::rgb(37, 61);
    let mut specs = vec![
        ImageSpec::keep_size(),
        ImageSpec::tf1(50, 40),
        ImageSpec::tf2(50, 40),
        ImageSpec::pillow(33, 47),
        ImageSpec::pillow(33, 47).dtype(PixelType::U8),
        ImageSpec::imagenet_eval(48, 40),
        ImageSpec::gray(31, 29),
        sized.clone().dtype(PixelType::U8),
        sized.clone().scale(Scale::Off).layout(Layout::Nchw).channels(4),
        sized.clone().fit(Fit::Pad).coordinates(Coordinates::AlignCorners),
        sized.clone().crop(0, 0, 1, 1),
        sized.clone().dct(Dct::Fast),
        sized.clone().damage(Damage::Lenient),
    ];
    let methods = [Bilinear, Nearest, Bicubic, Area, Lanczos3, Lanczos5, Gaussian, MitchellCubic];
    let pillow = [PillowBox, PillowBilinear, PillowBicubic];
    specs.extend(methods.map(|method| sized.clone().method(method)));
    specs.extend(methods.map(|method| sized.clone().method(method).antialias(true)));
    specs.extend(pillow.map(|method| sized.clone().method(method)));
    specs
}

/// One line for each picture and what was made of it: the SHA-256 of the pixels, or the error.
fn pixels() -> Vec<String> {
    let pictures = pictures();
    let mut lines = Vec::new();
    let mut worker = ImageWorker::new();
    let (mut u8s, mut f32s) = (Vec::new(), Vec::new());
    for (path, bytes) in &pictures {
        let name = path.file_name().unwrap().display();
        for (dct, output) in [(Dct::Accurate, Output::Rgb), (Dct::Fast, Output::Native)] {
            let options = jpeg::Options { dct, output, damage: Damage::Lenient, ..jpeg::Options::default() };
            let made = jpeg::decode(bytes, &options).map(|image| sha256(&image.pixels));
            lines.push(format!("{name} {dct:?} {output:?} {made:?}"));
        }
        for spec in specs() {
            let floats = spec.pixel_type() == PixelType::F32;
            let out = if floats { PixelsVec::F32(&mut f32s) } else { PixelsVec::U8(&mut u8s) };
            let made = worker.run_keep(bytes, &spec, AugmentKey::default(), out).map(|_| ());
            let digest = made.map(|()| if floats { sha256(&le_bytes(&f32s)) } else { sha256(&u8s) });
            lines.push(format!("{name} {} {:?}", spec.to_json(), digest.map_err(|error| error.to_string())));
        }
    }
    lines.extend(batches(&pictures));
    lines
}

/// The same for batches, shuffled and augmented.
fn batches(pictures: &[(PathBuf, Vec<u8>)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::create(folder.path().join("data")).unwrap();
    for (_, bytes) in pictures {
        writer.write(&ExampleBuilder::new().bytes("picture", bytes.as_slice()).encode()).unwrap();
    }
    let features = Features::new().image("picture", ImageSpec::imagenet_train(56));
    let dataset = writer.finish().unwrap().with_features(features).shuffled(5).epochs(0..2);
    let batches = dataset.batches(16).threads(2).on_error(OnError::Mask { limit: 1000 });
    let digest = |batch: tfrmap::Result<tfrmap::Batch>| {
        let batch = batch.unwrap();
        let pixels = le_bytes(batch.images().unwrap().as_f32().unwrap());
        format!("batch of {:?} {:?} {}", batch.indices(), batch.valid(), sha256(&pixels))
    };
    batches.map(digest).collect()
}

/// Not a test of its own: the child.
#[test]
fn child_without_vectors() {
    let Some(file) = std::env::var_os("TFRMAP_TEST_TARGET") else { return };
    fs::write(file, pixels().join("\n")).unwrap();
}

#[test]
fn pixels_and_batches_are_the_same_without_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["child_without_vectors", "--exact"])
        .envs([("TFRMAP_SCALAR", "1".as_ref()), ("TFRMAP_TEST_TARGET", told.as_os_str())])
        .spawn()
        .unwrap();
    let with = pixels();
    assert!(child.wait().unwrap().success());
    let without = fs::read_to_string(told).unwrap();
    let without: Vec<_> = without.split('\n').collect();
    assert_eq!(with.len(), without.len());
    assert!(with.len() > 4000 && with.iter().filter(|line| line.contains("Ok(")).count() > 3000);
    let differ: Vec<_> = with.iter().zip(&without).filter(|(with, without)| with != without).collect();
    assert!(
        differ.is_empty(),
        "{} of {} differ: {:#?}",
        differ.len(),
        with.len(),
        &differ[..differ.len().min(5)]
    );
}
