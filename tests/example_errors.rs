//! Fear: an error does not say which feature of which record is wrong, or spills the record's bytes.

use tfrmap::image::ImageSpec;
use tfrmap::{
    Column, DType, Error, ErrorKind, ExampleBuilder, FeatureSpec, Features, SequenceExampleBuilder,
};
use tfrmap::{Values, proto};

fn record() -> Vec<u8> {
    ExampleBuilder::new()
        .bytes("secret", &b"\xde\xad\xbe\xef"[..])
        .bytes_list("two", [&b"\xde\xad"[..], b"\xbe\xef"])
        .int64s("numbers", [1, 2, 3])
        .float("float", 0.5)
        .int64("key\n\u{ff}", 1)
        .int64(*b"\xff", 1)
        .encode()
}

/// The error of a column that is read from the second of two records; the first has nothing to complain about.
fn error(spec: FeatureSpec, key: &str) -> Error {
    let good = match &spec {
        FeatureSpec::DecodeRaw { shape: None, .. } => ExampleBuilder::new().bytes(key, &b"12345678"[..]),
        FeatureSpec::Image(_) | FeatureSpec::DecodeRaw { .. } => ExampleBuilder::new().bytes(key, &b"ab"[..]),
        FeatureSpec::FixedLen { dtype: DType::Float32, .. } => ExampleBuilder::new().float(key, 1.0),
        FeatureSpec::FixedLen { .. } => ExampleBuilder::new().int64(key, 1),
        _ => ExampleBuilder::new(),
    };
    let features = Features::new().with(key, spec);
    let error = features.parse(&[good.encode(), record()]).unwrap_err();
    assert_eq!((error.record(), error.feature()), (Some(1), Some(key)), "{error}");
    error
}

fn fixed(dtype: DType) -> FeatureSpec {
    FeatureSpec::FixedLen { dtype, shape: vec![], default: None }
}

fn decode_raw(dtype: DType, shape: Option<Vec<usize>>) -> FeatureSpec {
    FeatureSpec::DecodeRaw { dtype, little_endian: true, shape, fixed_length: None }
}

#[test]
fn kind_key_record_and_way_out_are_said() {
    let cases = [
        (error(fixed(DType::Int64), "nothing"), ErrorKind::MissingFeature, "no such feature"),
        (
            error(FeatureSpec::Image(ImageSpec::default()), "nothing"),
            ErrorKind::MissingFeature,
            "no such feature",
        ),
        (error(decode_raw(DType::UInt8, None), "nothing"), ErrorKind::MissingFeature, "no such feature"),
        (
            error(fixed(DType::Int64), "secret"),
            ErrorKind::WrongKind { expected: "int64", found: "bytes" },
            "of kind bytes where int64",
        ),
        (
            error(fixed(DType::Float32), "numbers"),
            ErrorKind::WrongKind { expected: "float", found: "int64" },
            "of kind int64 where float",
        ),
        (
            error(FeatureSpec::VarLen { dtype: DType::Int64 }, "float"),
            ErrorKind::WrongKind { expected: "int64", found: "float" },
            "of kind float where int64",
        ),
        (
            error(FeatureSpec::Image(ImageSpec::default()), "numbers"),
            ErrorKind::WrongKind { expected: "bytes", found: "int64" },
            "of kind int64 where bytes",
        ),
        (
            error(fixed(DType::Int64), "numbers"),
            ErrorKind::WrongShape { found: 3, expected: 1 },
            "3 values where 1",
        ),
        (
            error(FeatureSpec::Image(ImageSpec::default()), "two"),
            ErrorKind::WrongShape { found: 2, expected: 1 },
            "2 values where 1",
        ),
        (
            error(FeatureSpec::Padded { dtype: DType::Int64, shape: vec![2], default: None }, "numbers"),
            ErrorKind::WrongShape { found: 3, expected: 4 },
            "3 values where 4",
        ),
        (
            error(decode_raw(DType::Int64, None), "secret"),
            ErrorKind::WrongShape { found: 4, expected: 8 },
            "4 bytes are no whole number of int64",
        ),
        (
            error(decode_raw(DType::UInt8, Some(vec![2])), "secret"),
            ErrorKind::WrongShape { found: 4, expected: 2 },
            "4 values where 2",
        ),
    ];
    for (error, kind, text) in cases {
        assert_eq!(*error.kind(), kind, "{error}");
        let message = error.to_string();
        assert!(message.contains(text), "{message}");
        assert!(message.contains("with_features"), "no way out: {message}");
        assert!(message.is_ascii() && !message.contains("xde"), "{message}");
    }
}

#[test]
fn odd_keys_are_escaped() {
    let features = Features::new().fixed_len::<f32>("key\n\u{ff}", []);
    let error = features.parse(&[record()]).unwrap_err();
    assert_eq!(error.feature(), Some("key\\n\u{ff}"));
    let error = Features::new().fixed_len::<f32>(*b"\xff", []).parse(&[record()]).unwrap_err();
    assert_eq!(error.feature(), Some("\\xff"));
}

#[test]
fn records_that_differ_in_size_are_an_error_only_where_they_must_agree() {
    let payloads = [1_usize, 2].map(|n| ExampleBuilder::new().bytes("k", vec![0; n]).encode());
    let error = Features::new().with("k", decode_raw(DType::UInt8, None)).parse(&payloads).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::WrongShape { found: 2, expected: 1 });
    assert_eq!(error.feature(), Some("k"));
    let padded = FeatureSpec::DecodeRaw {
        dtype: DType::UInt8,
        little_endian: true,
        shape: None,
        fixed_length: Some(2),
    };
    let column = Features::new().with("k", padded).parse(&payloads).unwrap().remove(0).1;
    assert_eq!(column.shape(), Some(&[2, 2][..]));
}

#[test]
fn a_step_of_a_sequence_is_checked_like_a_feature() {
    let step = |values: &[i64]| proto::Feature::int64_list(values.iter().copied());
    let payload = SequenceExampleBuilder::new()
        .list("uneven", [step(&[1]), step(&[1, 2])])
        .list("mixed", [step(&[1]), proto::Feature::float_list([1.0])])
        .encode();
    let fixed = |key: &str| {
        Features::new().with(key, FeatureSpec::Sequence { dtype: DType::Int64, shape: Some(vec![]) })
    };
    let error = fixed("uneven").parse(&[&payload]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::WrongShape { found: 2, expected: 1 });
    let error = Features::new().sequence::<i64>("mixed").parse(&[&payload]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::WrongKind { expected: "int64", found: "float" });
    assert_eq!(error.feature(), Some("mixed"));
}

#[test]
fn a_column_is_given_up_only_as_what_it_is() {
    let features = Features::new().fixed_len::<i64>("numbers", [3]).var_len::<f32>("float");
    let mut columns = features.parse(&[record(), record()]).unwrap();
    let ragged = columns.remove(1).1;
    let dense = columns.remove(0).1;
    for error in [dense.get::<f32>().unwrap_err(), dense.clone().take::<f32>().unwrap_err()] {
        assert_eq!(*error.kind(), ErrorKind::WrongKind { expected: "float32", found: "int64" });
    }
    assert!(matches!(ragged.clone().take::<f32>().unwrap_err().kind(), ErrorKind::WrongShape { .. }));
    assert!(matches!(ragged, Column::Ragged(_)));
    assert_eq!((dense.rows(), ragged.rows()), (2, 2));
    let tensor = dense.take::<i64>().unwrap();
    assert_eq!((tensor.values.into_vec(), tensor.shape), (vec![1, 2, 3, 1, 2, 3], vec![2, 3]));
    assert_eq!(ragged.values().dtype(), DType::Float32);
    assert!(matches!(ragged.values(), Values::Float32(values) if values[..] == [0.5, 0.5]));
}
