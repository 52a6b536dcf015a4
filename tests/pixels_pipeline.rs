//! Fear: each part is right alone, but from JPEG bytes to the batch something is lost: a rounding, a channel, a layout.
//!
//! `tests/data/golden/pipeline/make.py` made the hashes with TensorFlow.

mod pixels_support;

use std::fs;
use std::path::Path;

use pixels_support::{golden_root, le_bytes, read_json, sha256};
use serde_json::Value;
use tfrmap::image::{
    AugmentKey, Coordinates, Dct, ImageSpec, ImageWorker, Method, PixelType, PixelsMut, PixelsVec, Scale,
};

/// The bytes of the output, by the size it must have or as large as it gets; both ways where there is a size.
fn run(worker: &mut ImageWorker, bytes: &[u8], spec: &ImageSpec) -> (Vec<usize>, Vec<u8>) {
    let key = AugmentKey::default();
    let (mut u8s, mut f32s) = (Vec::new(), Vec::new());
    let kept = match spec.pixel_type() {
        PixelType::U8 => worker.run_keep(bytes, spec, key, PixelsVec::U8(&mut u8s)).unwrap().0,
        PixelType::F32 => worker.run_keep(bytes, spec, key, PixelsVec::F32(&mut f32s)).unwrap().0,
    };
    let kept_bytes = if spec.pixel_type() == PixelType::U8 { u8s.clone() } else { le_bytes(&f32s) };
    if let Some(shape) = spec.shape() {
        assert_eq!(shape, kept);
        u8s.fill(77);
        f32s.fill(f32::NAN);
        let out = match spec.pixel_type() {
            PixelType::U8 => PixelsMut::U8(&mut u8s),
            PixelType::F32 => PixelsMut::F32(&mut f32s),
        };
        worker.run(bytes, spec, key, out).unwrap();
        let bytes = if spec.pixel_type() == PixelType::U8 { u8s } else { le_bytes(&f32s) };
        assert_eq!(bytes, kept_bytes);
    }
    (kept.to_vec(), kept_bytes)
}

#[test]
fn every_option_equals_tensorflows_ops() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden");
    let table = read_json(&data.join("pipeline/pipeline.json"));
    let mut worker = ImageWorker::new();
    let mut wrong = Vec::new();
    for case in table["cases"].as_array().unwrap() {
        let bytes = fs::read(data.join("images/inputs").join(case["input"].as_str().unwrap())).unwrap();
        let spec = ImageSpec::from_json(&case["spec"]).unwrap();
        assert_eq!(ImageSpec::from_json(&spec.to_json()).unwrap(), spec);
        // Small pictures have no room for the crop.
        let (shape, pixels) = run(&mut worker, &bytes, &spec);
        if case["shape"] != Value::from(shape.clone()) {
            wrong.push(format!("{} {}: shape {shape:?}", case["input"], case["spec"]));
        } else if sha256(&pixels) != case["sha256"] {
            wrong.push(format!("{} {}", case["input"], case["spec"]));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_tutorials_pipeline_equals_tensorflow() {
    let root = golden_root();
    let golden = read_json(&root.join("resize/golden.json"));
    let mut worker = ImageWorker::new();
    let mut seen = 0;
    for case in golden["cases"].as_array().unwrap().iter().filter(|case| case["fn"] == "seed_pipeline") {
        let args = &case["args"];
        let accurate = args["decode"]["dct_method"] == "INTEGER_ACCURATE";
        let fast = ImageSpec::rgb(224, 224).dct(if accurate { Dct::Accurate } else { Dct::Fast });
        let spec = match args["resize"].as_str().unwrap() {
            "v1" if !accurate => ImageSpec::tf1(224, 224),
            "v2" if !accurate => ImageSpec::tf2(224, 224),
            "v1" => fast.coordinates(Coordinates::Asymmetric),
            "v1_align" => fast.coordinates(Coordinates::AlignCorners),
            "v2" => fast,
            "v2_antialias" => fast.antialias(true),
            "v2_bicubic_antialias" => fast.method(Method::Bicubic).antialias(true),
            other => panic!("unknown resize {other}"),
        };
        let spec = if args["convert"].is_null() { spec.scale(Scale::Off) } else { spec };
        let bytes = fs::read(root.join(case["input"].as_str().unwrap())).unwrap();
        let (_, pixels) = run(&mut worker, &bytes, &spec);
        assert_eq!(sha256(&pixels), case["sha256"].as_str().unwrap(), "{}", case["id"]);
        seen += 1;
    }
    assert!(seen >= 16, "{seen} cases");
}

#[test]
fn eight_bit_values_become_tensorflows_floats() {
    let tables = read_json(&golden_root().join("resize/dtype_tables.json"));
    let tables = tables["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["id"] == "uint8_to_float32_bits").unwrap();
    let image = tfrmap::image::Image { height: 1, width: 256, channels: 1, pixels: (0..=255).collect() };
    let mut out = vec![0.0; 256];
    let spec = ImageSpec::gray(1, 256);
    ImageWorker::new().run_decoded(&image, &spec, AugmentKey::default(), PixelsMut::F32(&mut out)).unwrap();
    let want: Vec<u32> =
        table["output_bits"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect();
    assert_eq!(out.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), want);
    // And back.
    let mut bytes = vec![0; 256];
    ImageWorker::new()
        .run_decoded(&image, &spec.dtype(PixelType::U8), AugmentKey::default(), PixelsMut::U8(&mut bytes))
        .unwrap();
    assert_eq!(bytes, image.pixels);
}
