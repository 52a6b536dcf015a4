//! Fear: a set that nobody described is read by the wrong columns.

mod example_support;

use example_support::records;
use serde_json::{Value, json};
use tfrmap::image::ImageSpec;
use tfrmap::{DType, ErrorKind, ExampleBuilder, FeatureSpec, Features, PayloadKind, Profile};

const JPEG: &[u8] = b"\xff\xd8\xff\xe0 and so on";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

fn inferred(payloads: &[Vec<u8>]) -> Value {
    Features::infer(payloads).to_json()
}

fn image() -> Value {
    json!({"image": ImageSpec::default().to_json()})
}

fn scalar(dtype: &str) -> Value {
    json!({"fixed_len": {"dtype": dtype, "shape": []}})
}

fn ragged(dtype: &str) -> Value {
    json!({"var_len": {"dtype": dtype}})
}

#[test]
fn slim_records_give_a_picture_a_label_and_the_rest() {
    let payload = |i: i64| {
        ExampleBuilder::new()
            .image(if i % 2 == 0 { JPEG } else { PNG }, "JPEG", 2, 3)
            .label(i)
            .text("cat")
            .float("weight", 0.5)
            .floats("image/object/bbox/xmin", (0..i).map(|x| x as f32))
            .encode()
    };
    let payloads: Vec<_> = (0..5).map(payload).collect();
    let expected = json!({
        "image/class/label": scalar("int64"),
        "image/class/text": ragged("bytes"),
        "image/encoded": image(),
        "image/format": ragged("bytes"),
        "image/height": scalar("int64"),
        "image/object/bbox/xmin": ragged("float32"),
        "image/width": scalar("int64"),
        "weight": scalar("float32"),
    });
    assert_eq!(inferred(&payloads), expected);
    let features = Features::infer(&payloads);
    assert_eq!(features.label_key().unwrap(), b"image/class/label");
    assert_eq!(features.image_key().unwrap(), b"image/encoded");
}

#[test]
fn the_tutorial_keys_work_too() {
    let payload = ExampleBuilder::new()
        .bytes("train/image", JPEG)
        .int64("train/label", 1)
        .int64("train/height", 224)
        .int64("train/width", 224)
        .encode();
    let features = Features::infer([payload]);
    assert_eq!(features.image_key().unwrap(), b"train/image");
    assert_eq!(features.label_key().unwrap(), b"train/label");
    assert!(
        matches!(features.get("train/image"), Some(FeatureSpec::Image(spec)) if *spec == ImageSpec::default())
    );
}

#[test]
fn a_number_that_is_not_once_in_every_record_is_ragged() {
    let with = ExampleBuilder::new().int64("a", 1).int64("b", 1).int64("c", 1).encode();
    let without = ExampleBuilder::new().int64s("a", [1, 2]).int64s("b", []).encode();
    let expected = json!({"a": ragged("int64"), "b": ragged("int64"), "c": ragged("int64")});
    assert_eq!(inferred(&[with.clone(), without]), expected);
    // An unset feature, and a record without features, are records without it.
    let unset = ExampleBuilder::new().feature("a", Default::default()).int64("b", 1).int64("c", 1).encode();
    let expected = json!({"a": ragged("int64"), "b": scalar("int64"), "c": scalar("int64")});
    assert_eq!(inferred(&[with.clone(), unset]), expected);
    assert_eq!(inferred(&[with, Vec::new()])["b"], ragged("int64"));
}

#[test]
fn one_bad_picture_does_not_hide_the_column_and_one_lucky_text_does_not_make_one() {
    let encoded = |value: &[u8]| ExampleBuilder::new().bytes("x", value).encode();
    let mut payloads = vec![encoded(JPEG); 9];
    payloads.push(encoded(b""));
    assert_eq!(inferred(&payloads)["x"], image());
    let mut payloads = vec![encoded(b"a text"); 9];
    payloads.push(encoded(JPEG));
    assert_eq!(inferred(&payloads)["x"], ragged("bytes"));
    // Several pictures, or none in some record, are no image column.
    let several = ExampleBuilder::new().bytes_list("x", [JPEG, JPEG]).encode();
    assert_eq!(inferred(&[several])["x"], ragged("bytes"));
    let none = ExampleBuilder::new().int64("y", 1).encode();
    assert_eq!(inferred(&[encoded(JPEG), encoded(JPEG), none])["x"], ragged("bytes"));
}

#[test]
fn a_key_whose_kind_changes_or_is_never_set_is_left_out() {
    let payloads = [
        ExampleBuilder::new().int64("a", 1).feature("u", Default::default()).int64("k", 1).encode(),
        ExampleBuilder::new().float("a", 1.0).feature("u", Default::default()).int64("k", 1).encode(),
    ];
    assert_eq!(inferred(&payloads), json!({"k": scalar("int64")}));
}

#[test]
fn what_is_no_example_is_read_raw() {
    let pickle = b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94\x8c\x01a\x94K\x01s.".to_vec();
    for payloads in [
        vec![pickle],
        vec![b"a text".to_vec(), b"{\"json\": 1}".to_vec()],
        vec![Vec::new(), Vec::new()],
        vec![],
        records(include_bytes!("data/cases/parse/P11_empty_examples.tfrecord")),
    ] {
        assert_eq!(Features::infer(&payloads), Features::raw());
    }
}

#[test]
fn a_sequence_gives_context_and_lists() {
    let payloads = records(include_bytes!("data/cases/parse/P13a_sequence_example.tfrecord"));
    let sequence = json!({"sequence": {"dtype": "int64"}});
    let expected = json!({"id": scalar("int64"), "chars": sequence, "words": sequence});
    assert_eq!(inferred(&payloads), expected);
}

#[test]
fn payloads_are_named_by_content() {
    let event = [&[0x09][..], &1.5_f64.to_le_bytes(), &[0x1a, 13], b"brain.Event:2"].concat();
    let example = ExampleBuilder::new().label(1).encode();
    // An ExampleListWithContext is an Example by its bytes, whose keys are noise.
    let nested = [&[0x0a, example.len() as u8][..], &example].concat();
    for (payload, kind) in [
        (&event[..], PayloadKind::Event),
        (&example, PayloadKind::Example),
        (b"\x0a\x00", PayloadKind::Example),
        (&nested, PayloadKind::Unknown),
        (b"a text,\n\twith lines", PayloadKind::Text),
        (b"", PayloadKind::Unknown),
        (b"\x00\x01\x02", PayloadKind::Unknown),
    ] {
        assert_eq!(PayloadKind::of(payload), kind, "{payload:?}");
    }
    let mut profile = Profile::new();
    [&event[..], &event, &example, b""].iter().for_each(|payload| profile.add(payload));
    assert_eq!((profile.records(), profile.payload()), (4, PayloadKind::Event));
}

#[test]
fn the_sample_is_spread_evenly_and_has_both_ends() {
    for len in [0, 1, 2, 63, 64] {
        assert_eq!(Profile::sample(len).collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
    }
    for len in [65, 1000, 1 << 40, u64::MAX] {
        let sample: Vec<u64> = Profile::sample(len).collect();
        assert_eq!((sample.len(), sample[0], sample[63]), (64, 0, len - 1));
        let steps: Vec<u64> = sample.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (least, most) = (steps.iter().min().unwrap(), steps.iter().max().unwrap());
        assert!(*least > 0 && most - least <= 1, "{len}: steps of {least} to {most}");
    }
}

#[test]
fn the_label_is_the_named_scalar_or_the_only_one_and_else_the_candidates_are_listed() {
    let scalars = |keys: &[&str]| keys.iter().fold(Features::new(), |f, key| f.fixed_len::<i64>(*key, []));
    let label =
        |features: &Features| features.label_key().map(<[u8]>::to_vec).map_err(|error| error.to_string());
    assert_eq!(label(&scalars(&["a/label", "image/class/label", "label"])).unwrap(), b"image/class/label");
    assert_eq!(label(&scalars(&["id", "train/label"])).unwrap(), b"train/label");
    assert_eq!(label(&scalars(&["height", "label"])).unwrap(), b"label");
    assert_eq!(label(&scalars(&["class"])).unwrap(), b"class");
    for keys in [&["a/label", "b/label", "id"][..], &["height", "width"]] {
        let error = label(&scalars(keys)).unwrap_err();
        assert!(error.contains(keys[0]) && error.contains(keys[1]) && !error.contains("id\""), "{error}");
    }
    let none = Features::new().var_len::<i64>("label").fixed_len::<f32>("x", []).fixed_len::<i64>("y", [1]);
    assert_eq!(*none.label_key().unwrap_err().kind(), ErrorKind::InvalidArgument);
    let two = Features::new().image("a", ImageSpec::default()).image("b", ImageSpec::default());
    assert!(two.image_key().unwrap_err().to_string().contains("\"a\", \"b\""));
    assert_eq!(DType::from_name("int64"), Some(DType::Int64));
}
