//! Fear: PyTorch users get other pixels than `PIL.Image.resize` gives them.
//!
//! The tables hold hashes of Pillow's results; the scripts in `tests/data/golden/pillow` made them.

mod pixels_support;

use std::fs;
use std::path::Path;

use pixels_support::{le_bytes, read_json, sha256};
use serde_json::json;
use tfrmap::image::{AugmentKey, Image, ImageSpec, ImageWorker, PixelsMut};

/// The made-up picture of `make.py`.
fn picture(seed: u64, [height, width, channels]: [u64; 3]) -> Vec<u8> {
    (0..height * width * channels)
        .map(|i| {
            let mut h = (i * 2_654_435_761 + seed * 40_503) & 0xffff_ffff;
            h ^= h >> 15;
            h = (h * 2_246_822_519) & 0xffff_ffff;
            h ^= h >> 13;
            let noise = h & 255;
            let (c, x, y) = (i % channels, i / channels % width, i / (channels * width));
            let value = match seed % 3 {
                0 => noise,
                1 => (x * 3 + y * 5 + c * 40 + noise / 16) & 255,
                _ => (x / 5 + y / 3 + c) % 2 * 255,
            };
            value as u8
        })
        .collect()
}

#[test]
fn two_hundred_pictures_and_sizes_equal_pillow() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/pillow/pillow.json");
    let table = read_json(&table);
    let cases = table["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 200);
    let mut worker = ImageWorker::new();
    let mut wrong = Vec::new();
    for case in cases {
        let numbers = |key: &str| -> Vec<u64> {
            case[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
        };
        let (shape, size) = (numbers("shape"), numbers("size"));
        let image = Image {
            height: shape[0] as u32,
            width: shape[1] as u32,
            channels: shape[2] as u8,
            pixels: picture(case["seed"].as_u64().unwrap(), [shape[0], shape[1], shape[2]]),
        };
        let spec = ImageSpec::from_json(&json!({
            "size": size, "method": case["method"], "channels": shape[2], "dtype": "uint8"
        }))
        .unwrap();
        let mut out = vec![0; (size[0] * size[1] * shape[2]) as usize];
        worker.run_decoded(&image, &spec, AugmentKey::default(), PixelsMut::U8(&mut out)).unwrap();
        if sha256(&out) != case["sha256"] {
            wrong.push(case.to_string());
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn presets_equal_pillow_and_torchvision() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden");
    let table = read_json(&data.join("pillow/presets.json"));
    let mut worker = ImageWorker::new();
    for case in table["cases"].as_array().unwrap() {
        let bytes = fs::read(data.join("images/inputs").join(case["input"].as_str().unwrap())).unwrap();
        let spec = match case["preset"].as_str().unwrap() {
            "pillow(100, 150)" => ImageSpec::pillow(100, 150),
            "imagenet_eval(256, 224)" => ImageSpec::imagenet_eval(256, 224),
            "imagenet_eval(97, 64)" => ImageSpec::imagenet_eval(97, 64),
            other => panic!("unknown preset {other}"),
        };
        let mut out = vec![0.0; spec.shape().unwrap().iter().product()];
        worker.run(&bytes, &spec, AugmentKey::default(), PixelsMut::F32(&mut out)).unwrap();
        assert_eq!(sha256(&le_bytes(&out)), case["sha256"].as_str().unwrap(), "{case}");
    }
}
