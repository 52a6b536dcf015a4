//! Fear: a spec does not survive being printed, or a wrong one is taken and reads something else.

use serde_json::{Value, json};
use tfrmap::image::{Coordinates, ImageSpec, Layout, PixelType};
use tfrmap::{DType, DefaultValue, ErrorKind, FeatureSpec, Features};

fn all_kinds() -> Features {
    Features::new()
        .image("i", ImageSpec::rgb(32, 48).coordinates(Coordinates::Asymmetric).layout(Layout::Nchw))
        .fixed_len::<i64>("f0", [])
        .fixed_len::<i64>("f1", [2, 2])
        .default_value(-1)
        .fixed_len::<f32>("f2", [3])
        .default_value(vec![0.5, f32::INFINITY, -0.0])
        .fixed_len::<Vec<u8>>("f3", [])
        .default_value("text \"quoted\"")
        .fixed_len::<Vec<u8>>("f4", [2])
        .default_value(vec![b"\xff\0".to_vec(), b"".to_vec()])
        .fixed_len::<f32>("f5", [])
        .default_value(i64::MAX)
        .var_len::<f32>("v")
        .padded::<i64>("p", [4])
        .default_value(9)
        .decode_raw("d0", DType::UInt8, [28, 28])
        .with(
            "d1",
            FeatureSpec::DecodeRaw {
                dtype: DType::Complex64,
                little_endian: false,
                shape: None,
                fixed_length: Some(16),
            },
        )
        .sequence::<Vec<u8>>("s0")
        .with("s1", FeatureSpec::Sequence { dtype: DType::Float32, shape: Some(vec![2]) })
        .with("r", FeatureSpec::Raw)
        .var_len::<i64>(*b"\xff\xfe")
        .var_len::<i64>("hex:no")
        .var_len::<i64>("ключ/é")
        .var_len::<i64>("")
}

#[test]
fn every_kind_survives_json_and_text() {
    let features = all_kinds();
    features.check().unwrap();
    let json = features.to_json();
    let text = serde_json::to_string_pretty(&json).unwrap();
    let back = Features::from_json(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(back.to_json(), json);
    assert_eq!(back.len(), features.len());
    for ((key, spec), (key_back, spec_back)) in features.iter().zip(back.iter()) {
        assert_eq!(key, key_back);
        match spec {
            FeatureSpec::Image(_) => {}
            spec => assert_eq!(spec, spec_back),
        }
    }
}

#[test]
fn nan_survives_too() {
    let features = Features::new().fixed_len::<f32>("f", []).default_value(f32::NAN);
    let json: Value = serde_json::from_str(&features.to_json().to_string()).unwrap();
    let back = Features::from_json(&json).unwrap();
    let Some(FeatureSpec::FixedLen { default: Some(DefaultValue::Float(values)), .. }) = back.get("f") else {
        panic!("{json}");
    };
    assert!(values[0].is_nan());
}

#[test]
fn all_but_the_kind_may_be_left_out() {
    let json = json!({"i": {"image": {}}, "f": {"fixed_len": {}}, "v": {"var_len": {}}, "p": {"padded": {}},
        "d": {"decode_raw": {}}, "s": {"sequence": {}}, "r": {"raw": {}}});
    let features = Features::from_json(&json).unwrap();
    let FeatureSpec::Image(spec) = features.get("i").unwrap() else { panic!("no image") };
    assert_eq!(spec.shape(), Some([224, 224, 3]));
    let scalar = FeatureSpec::FixedLen { dtype: DType::Int64, shape: vec![], default: None };
    assert_eq!(features.get("f"), Some(&scalar));
    assert_eq!(features.get("v"), Some(&FeatureSpec::VarLen { dtype: DType::Int64 }));
    assert_eq!(features.get("s"), Some(&FeatureSpec::Sequence { dtype: DType::Int64, shape: None }));
    let raw =
        FeatureSpec::DecodeRaw { dtype: DType::UInt8, little_endian: true, shape: None, fixed_length: None };
    assert_eq!(features.get("d"), Some(&raw));
    assert_eq!(Features::raw().to_json(), json!({"record": {"raw": {}}}));
}

#[test]
fn the_spec_of_the_design_is_read_and_nested_defaults_are_flattened() {
    let json = json!({
        "image/encoded": {"image": {"size": [224, 224], "method": "bilinear", "coordinates": "half_pixel",
            "antialias": false, "channels": 3, "dtype": "float32", "scale": true, "layout": "nhwc",
            "dct_method": "INTEGER_ACCURATE", "fit": "stretch"}},
        "image/class/label": {"fixed_len": {"dtype": "int64", "shape": [], "default_value": -1}},
        "image/object/bbox/xmin": {"var_len": {"dtype": "float32"}},
        "m": {"fixed_len": {"dtype": "float32", "shape": [2, 2], "default_value": [[1, 2], [3, 4.5]]}},
        "e": {"fixed_len": {"shape": [0], "default_value": []}},
        "n": {"fixed_len": {"default_value": null}},
    });
    let features = Features::from_json(&json).unwrap();
    let default = DefaultValue::Float(vec![1.0, 2.0, 3.0, 4.5]);
    let matrix = FeatureSpec::FixedLen { dtype: DType::Float32, shape: vec![2, 2], default: Some(default) };
    assert_eq!(features.get("m"), Some(&matrix));
    for key in ["e", "n"] {
        assert!(matches!(features.get(key), Some(FeatureSpec::FixedLen { default: None, .. })));
    }
}

#[test]
fn a_wrong_spec_is_refused_and_its_key_named() {
    let wrong = [
        json!({}),
        json!({"fixed_len": {}, "var_len": {}}),
        json!("fixed_len"),
        json!({"fixed": {}}),
        json!({"fixed_len": []}),
        json!({"fixed_len": {"dtyp": "int64"}}),
        json!({"fixed_len": {"dtype": "string"}}),
        json!({"fixed_len": {"dtype": "float64"}}),
        json!({"fixed_len": {"dtype": 64}}),
        json!({"fixed_len": {"shape": [null]}}),
        json!({"fixed_len": {"shape": [-1]}}),
        json!({"fixed_len": {"shape": 3}}),
        json!({"fixed_len": {"shape": [1.5]}}),
        json!({"fixed_len": {"shape": [1_u64 << 40]}}),
        json!({"fixed_len": {"default_value": "3"}}),
        json!({"fixed_len": {"default_value": 3.5}}),
        json!({"fixed_len": {"default_value": u64::MAX}}),
        json!({"fixed_len": {"default_value": [1, 2]}}),
        json!({"fixed_len": {"default_value": true}}),
        json!({"fixed_len": {"shape": [3], "default_value": [1, 2]}}),
        json!({"fixed_len": {"dtype": "bytes", "default_value": 3}}),
        json!({"fixed_len": {"dtype": "bytes", "default_value": {"hex": "abc"}}}),
        json!({"fixed_len": {"dtype": "float32", "default_value": "x"}}),
        json!({"var_len": {"default_value": 3}}),
        json!({"var_len": {"dtype": "uint8"}}),
        json!({"padded": {"shape": [0]}}),
        json!({"padded": {"default_value": [1, 2]}}),
        json!({"decode_raw": {"dtype": "bytes"}}),
        json!({"decode_raw": {"dtype": "uint32"}}),
        json!({"decode_raw": {"little_endian": 1}}),
        json!({"decode_raw": {"dtype": "int16", "fixed_length": 5}}),
        json!({"decode_raw": {"fixed_length": 0}}),
        json!({"decode_raw": {"fixed_length": 4, "shape": [5]}}),
        json!({"sequence": {"shape": [0]}}),
        json!({"sequence": {"default_value": 0}}),
        json!({"raw": {"dtype": "bytes"}}),
        json!({"image": {"sice": [2, 2]}}),
    ];
    for spec in wrong {
        let error = Features::from_json(&json!({"good": {"var_len": {}}, "a/b": spec.clone()})).unwrap_err();
        assert_eq!(
            (error.kind(), error.feature()),
            (&ErrorKind::InvalidArgument, Some("a/b")),
            "{spec}: {error}"
        );
    }
    for whole in [json!([]), json!({}), json!({"hex:0": {"raw": {}}}), json!({"hex:é": {"raw": {}}})] {
        assert_eq!(*Features::from_json(&whole).unwrap_err().kind(), ErrorKind::InvalidArgument, "{whole}");
    }
    // The same key twice, once in hexadecimal.
    let twice = json!({"hex:6161": {"var_len": {}}, "aa": {"var_len": {}}});
    assert!(Features::from_json(&twice).is_err());
}

#[test]
fn a_default_for_a_column_that_takes_none_is_not_dropped_in_silence() {
    for features in [Features::new().default_value(1), Features::new().var_len::<i64>("a").default_value(1)] {
        assert_eq!(*features.check().unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert!(features.parse(&[b""]).is_err());
    }
    let features = Features::new().fixed_len::<i64>("a", []).default_value("text");
    assert_eq!(features.check().unwrap_err().feature(), Some("a"));
}

#[test]
fn a_column_given_twice_is_replaced_in_its_place() {
    let features = Features::new().var_len::<i64>("a").var_len::<i64>("b").fixed_len::<f32>("a", [1]);
    let keys: Vec<&[u8]> = features.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [b"a", b"b"]);
    assert_eq!(features.get("a").unwrap().name(), "fixed_len");
}

#[test]
fn printed_rust_is_what_one_would_write() {
    let spec = ImageSpec::rgb(32, 48)
        .coordinates(Coordinates::Asymmetric)
        .dtype(PixelType::F32)
        .normalize(&[0.5; 3], &[0.25; 3])
        .layout(Layout::Nchw);
    let features = Features::new()
        .image("image/encoded", spec)
        .fixed_len::<i64>("image/class/label", [])
        .default_value(-1)
        .fixed_len::<f32>("m", [2, 2])
        .default_value(vec![1.0, 2.0, 3.0, 4.0])
        .var_len::<Vec<u8>>(*b"\xff")
        .decode_raw("d", DType::UInt8, [28, 28])
        .sequence::<f32>("s");
    let expected = r#"Features::new()
    .image("image/encoded", ImageSpec::rgb(32, 48).coordinates(Coordinates::Asymmetric).normalize(&[0.5, 0.5, 0.5], &[0.25, 0.25, 0.25]).layout(Layout::Nchw))
    .fixed_len::<i64>("image/class/label", [])
    .default_value(-1_i64)
    .fixed_len::<f32>("m", [2, 2])
    .default_value(vec![1.0_f32, 2.0_f32, 3.0_f32, 4.0_f32])
    .var_len::<Vec<u8>>(b"\xff")
    .decode_raw("d", DType::UInt8, [28, 28])
    .sequence::<f32>("s")"#;
    assert_eq!(features.to_string(), expected);
    assert_eq!(Features::raw().to_string(), "Features::raw()");
}

#[test]
fn printed_python_is_what_one_would_write() {
    let features = Features::new()
        .image("image/encoded", ImageSpec::default())
        .fixed_len::<i64>("label", [])
        .default_value(-1)
        .fixed_len::<f32>("m", [2])
        .default_value(0.5)
        .var_len::<Vec<u8>>("t")
        .padded::<i64>("p", [])
        .with(
            "d",
            FeatureSpec::DecodeRaw {
                dtype: DType::Int16,
                little_endian: false,
                shape: None,
                fixed_length: None,
            },
        )
        .sequence::<f32>("s");
    let tensorflow = r#"features = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),  # tf.io.decode_image
    "label": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
    "m": tf.io.FixedLenFeature([2], tf.float32, default_value=[0.5] * 2),
    "t": tf.io.VarLenFeature(tf.string),
    "p": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    "d": tf.io.FixedLenFeature([], tf.string),  # tf.io.decode_raw(.., tf.int16, little_endian=False)
}
sequence_features = {
    "s": tf.io.VarLenFeature(tf.float32),
}
"#;
    assert_eq!(features.to_tensorflow(), tensorflow);
    let dali = r#"features = {
    "image/encoded": tfrec.FixedLenFeature([], tfrec.string, ""),
    "label": tfrec.FixedLenFeature([], tfrec.int64, -1),
    "m": tfrec.FixedLenFeature([2], tfrec.float32, 0.5),
    "t": tfrec.VarLenFeature(tfrec.string, ""),
    "p": tfrec.VarLenFeature(tfrec.int64, 0),
    "d": tfrec.FixedLenFeature([], tfrec.string, ""),
    # s: a feature list, which DALI does not read
}
"#;
    assert_eq!(features.to_dali(), dali);
}
