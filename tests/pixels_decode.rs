//! Fear: a picture that is not a JPEG decodes to other pixels than TensorFlow's, or a damaged one is taken for good.

mod pixels_support;

use std::collections::BTreeMap;
use std::fs;

use pixels_support::{golden_root, read_json, sha256};
use serde_json::Value;
use tfrmap::ErrorKind;
use tfrmap::image::{DecodeOptions, decode};

/// Where this crate gives pixels and TensorFlow an error, and why.
fn laxer(case: &Value) -> bool {
    let message = case["error"]["message"].as_str().unwrap_or("");
    let reasons = [
        // TensorFlow converts channels only for PNG; here any picture gives any number of channels.
        "channels must be 0 or 3 for GIF",
        "`channels` must be 0, 3 or 4 for BMP",
        "WebP only supports 3 or 4 channels",
        "Number of channels requested does not match input",
        // TensorFlow has no BMP of one bit.
        "Number of channels inherent in the image must be 1, 3 or 4",
        // Only PNG and JPEG can be had as float or with animations there.
        "Animated",
    ];
    reasons.iter().any(|reason| message.contains(reason))
}

/// Where both decode, but TensorFlow's pixels are wrong.
const WRONG_THERE: [&str; 5] = [
    // Opaque alpha is 3 or 15 there, in the file's own bits, instead of 255.
    "png_gray2.png channels 4",
    "png_pal2.png channels 4",
    "png_pal4.png channels 4",
    // A first frame that is smaller than the picture comes out black, in the frame's size.
    "gif_first_partial.gif channels 3",
    "gif_first_oob.gif channels 3",
];

#[test]
fn golden_pictures_equal_tensorflow() {
    let folder = golden_root().join("images");
    let mut golden = folder.join("pixels.json");
    if !golden.exists() {
        golden = folder.join("golden.json");
    }
    let golden = read_json(&golden);
    let mut counts = BTreeMap::<String, usize>::new();
    let mut wrong = Vec::new();
    for case in golden["cases"].as_array().unwrap() {
        let (args, name) = (&case["args"], case["input"].as_str().unwrap());
        let channels = args["channels"].as_u64().unwrap_or(0) as u8;
        let stem = name.rsplit('/').next().unwrap();
        if case["op"] != "decode_image"
            || !matches!(channels, 1 | 3 | 4)
            || args.get("dtype").is_some_and(|dtype| dtype != "uint8")
            || ["jpg", "photo", "empty"].iter().any(|start| stem.starts_with(start))
        {
            continue;
        }
        let bytes = fs::read(folder.join(name)).unwrap();
        let result = decode(&bytes, &DecodeOptions { channels, ..DecodeOptions::default() });
        let id = format!("{stem} channels {channels}");
        match (&result, case["ok"] == true) {
            (Ok(image), true) => {
                let shape: Vec<u64> =
                    case["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
                if shape.len() != 3 {
                    // An animation as a batch: its first frame alone is asked for in another case.
                    continue;
                }
                let got = [u64::from(image.height), u64::from(image.width), u64::from(image.channels)];
                if WRONG_THERE.contains(&id.as_str()) {
                    assert!(sha256(&image.pixels) != case["sha256"], "{id}: no exception is needed");
                } else if got != shape[..] {
                    wrong.push(format!("{id}: shape {got:?} for {shape:?}"));
                } else if sha256(&image.pixels) != case["sha256"] {
                    wrong.push(format!("{id}: other pixels"));
                } else {
                    *counts.entry(stem.split('_').next().unwrap().to_owned()).or_default() += 1;
                }
            }
            (Ok(_), false) if laxer(case) => {}
            (Ok(_), false) => wrong.push(format!("{id}: decoded, but should not: {}", case["error"])),
            (Err(error), true) if stem.ends_with(".jxl") => {
                assert_eq!(*error.kind(), ErrorKind::UnsupportedImage, "{id}");
            }
            (Err(error), true) => wrong.push(format!("{id}: {error}")),
            (Err(error), false) => assert!(
                matches!(
                    error.kind(),
                    ErrorKind::ImageDecode | ErrorKind::ImageTooLarge | ErrorKind::UnsupportedImage
                ),
                "{id}: {error:?}"
            ),
        }
    }
    eprintln!("bit-equal: {counts:?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        counts["png"] > 60 && counts["gif"] >= 9 && counts["bmp"] >= 8 && counts["webp"] >= 2,
        "{counts:?}"
    );
}
