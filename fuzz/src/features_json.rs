//! Any JSON as a spec: no panic, and what is taken survives being written.

use std::path::Path;

use tfrmap::image::ImageSpec;
use tfrmap::{DType, Features};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(json) = serde_json::from_str(text) else { return };
    let Ok(features) = Features::from_json(&json) else { return };
    let written = features.to_json();
    let again = Features::from_json(&written).expect("what was written is taken");
    assert_eq!(again.to_json(), written);
    let _ = (features.to_string(), features.to_tensorflow(), features.to_dali());
    let _ = features.parse(&[b"\x0a\x0a\x0a\x08\x0a\x01a\x12\x03\x1a\x01\x0a"]);
}

pub fn seeds(_data: &Path) -> Vec<Vec<u8>> {
    let all = Features::new()
        .image("image", ImageSpec::imagenet_train(224))
        .image("other", ImageSpec::pillow(8, 9).channels(1))
        .fixed_len::<i64>("label", [])
        .fixed_len::<f32>("box", [4])
        .default_value(0.25f32)
        .var_len::<Vec<u8>>("names")
        .padded::<i64>("ids", [8])
        .decode_raw("raw", DType::UInt16, [2, 2])
        .sequence::<f32>("steps");
    let mut seeds: Vec<Vec<u8>> = all
        .iter()
        .map(|(key, spec)| Features::new().with(key, spec.clone()).to_json())
        .map(|json| json.to_string().into_bytes())
        .collect();
    seeds.push(all.to_json().to_string().into_bytes());
    seeds.push(Features::raw().to_json().to_string().into_bytes());
    seeds
}
