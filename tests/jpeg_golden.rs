//! Fear: pixels that differ from TensorFlow's by a bit, or a file that only one of the two decodes.

mod jpeg_support;

use std::fs;
use std::path::{Path, PathBuf};

use jpeg_support::sha256;
use serde_json::Value;
use tfrmap::image::jpeg::{self, Damage, Dct, Options, Output};

/// Where we differ on purpose: the input, whether only its lenient cases, and why.
const EXCEPTIONS: [(&str, bool, &str); 9] = [
    ("jpg_arith", false, "arithmetic coding is refused by name"),
    ("jpg_trunc_arith", false, "arithmetic coding is refused by name"),
    ("jpg_trunc_base_75", true, TAIL),
    ("jpg_trunc_base_95", true, TAIL),
    ("jpg_trunc_prog_50", true, TAIL),
    ("jpg_trunc_rst_95", true, TAIL),
    ("jpg_trunc_gray_95", true, TAIL),
    ("jpg_trunc_cmyk_60", true, TAIL),
    ("jpg_trunc_eoi_half", true, "only half of the end marker is missing, and TensorFlow does not recover"),
];

/// libjpeg fills an MCU that is cut with zero bits, and those after it with gray; so do we.
const TAIL: &str = "TensorFlow goes on with bits that are not in the file";

fn check(folder: &Path, cases: &[Value]) {
    let mut wrong = Vec::new();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let input = case["input"].as_str().unwrap();
        let lenient = case["lenient"] == true;
        if EXCEPTIONS
            .iter()
            .any(|&(name, only_lenient, _)| input.starts_with(name) && (lenient || !only_lenient))
        {
            continue;
        }
        let options = Options {
            dct: if case["dct"] == "accurate" { Dct::Accurate } else { Dct::Fast },
            damage: if lenient { Damage::Lenient } else { Damage::Strict },
            output: match case["channels"].as_u64() {
                Some(1) => Output::Gray,
                Some(3) => Output::Rgb,
                _ => Output::Native,
            },
            ..Options::default()
        };
        let bytes = fs::read(folder.join("inputs").join(input)).unwrap();
        match (jpeg::decode(&bytes, &options), case["ok"] == true) {
            (Ok(image), true) => {
                let shape = [u64::from(image.height), u64::from(image.width), image.channels as u64];
                if case["shape"] != Value::from(shape.to_vec()) {
                    wrong.push(format!("{id}: shape {shape:?}, not {}", case["shape"]));
                } else if case["sha256"] != sha256(&image.pixels) {
                    wrong.push(format!("{id}: other pixels ({case})"));
                }
            }
            (Err(_), false) => {}
            (Ok(_), false) => wrong.push(format!("{id}: decoded, where TensorFlow fails ({case})")),
            (Err(error), true) => wrong.push(format!("{id}: {error} ({case})")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// The cases of the whole golden set that are ours, in the shape of ours.
fn from_whole_set(golden: &Value) -> Vec<Value> {
    let ours = |case: &&Value| {
        let (args, input) = (&case["args"], case["input"].as_str().unwrap());
        let recovers = args["try_recover_truncated"] == true;
        let fraction = args["acceptable_fraction"].as_f64().unwrap_or(1.0);
        case["op"] == "decode_jpeg"
            && (input.contains("/jpg_") || input.contains("/photo_"))
            && args["ratio"].as_u64().unwrap_or(1) == 1
            && args["fancy_upscaling"] != false
            && matches!(args["channels"].as_u64(), None | Some(0 | 1 | 3))
            && matches!(args["dct_method"].as_str(), None | Some("" | "INTEGER_FAST" | "INTEGER_ACCURATE"))
            && fraction == if recovers { 0.0 } else { 1.0 }
    };
    let adapt = |case: &Value| {
        let mut case = case.clone();
        let args = case["args"].clone();
        case["input"] = case["input"].as_str().unwrap().trim_start_matches("inputs/").into();
        case["channels"] = args["channels"].as_u64().unwrap_or(0).into();
        case["dct"] = if args["dct_method"] == "INTEGER_ACCURATE" { "accurate" } else { "fast" }.into();
        case["lenient"] = (args["try_recover_truncated"] == true).into();
        case
    };
    golden["cases"].as_array().unwrap().iter().filter(ours).map(adapt).collect()
}

#[test]
fn pixels_equal_tensorflows_on_the_whole_set() {
    let Some(folder) = std::env::var_os("TFRMAP_GOLDEN") else {
        eprintln!("SKIPPED: TFRMAP_GOLDEN does not point to the whole golden set");
        return;
    };
    let folder = PathBuf::from(folder).join("images");
    let golden: Value = serde_json::from_slice(&fs::read(folder.join("golden.json")).unwrap()).unwrap();
    let cases = from_whole_set(&golden);
    assert!(cases.len() > 500, "only {} cases", cases.len());
    check(&folder, &cases);
}

#[test]
fn pixels_equal_tensorflows() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/images");
    let golden: Value = serde_json::from_slice(&fs::read(folder.join("jpeg.json")).unwrap()).unwrap();
    check(&folder, golden["cases"].as_array().unwrap());
}
