//! Fear: a record that people really met is read wrongly, or kills the reader.
//!
//! The files of `tests/data/cases/parse`, each made after a public report.

mod example_support;

use example_support::records;
use serde_json::json;
use tfrmap::{Column, Error, ErrorKind, Example, Features, Kind, PayloadKind, Profile, SequenceExample};

macro_rules! case {
    ($name:literal) => {
        records(include_bytes!(concat!("data/cases/parse/", $name, ".tfrecord")))
    };
}

fn fixed(shape: &[usize]) -> Features {
    Features::new().fixed_len::<i64>("label", shape)
}

fn int64s(features: &Features, record: &[u8]) -> Result<Vec<i64>, Error> {
    let (_, column) = features.parse(&[record])?.remove(0);
    Ok(column.get::<i64>()?.to_vec())
}

fn view(record: &[u8], key: &str) -> Vec<i64> {
    Example::parse(record).unwrap().get(key).unwrap().int64s().collect()
}

fn kind_of(result: Result<Vec<i64>, Error>) -> ErrorKind {
    let error = result.unwrap_err();
    assert_eq!(error.feature(), Some("label"), "{error}");
    error.kind().clone()
}

#[test]
fn p01_a_missing_feature_is_named_or_takes_its_default() {
    let records = case!("P01_missing_feature");
    assert_eq!(int64s(&fixed(&[]), &records[0]).unwrap(), [7]);
    assert_eq!(kind_of(int64s(&fixed(&[]), &records[1])), ErrorKind::MissingFeature);
    assert_eq!(int64s(&fixed(&[]).default_value(-1), &records[1]).unwrap(), [-1]);
    let error = fixed(&[]).parse(&records).unwrap_err();
    assert_eq!((error.record(), error.feature()), (Some(1), Some("label")));
}

#[test]
fn p02_a_wrong_kind_is_never_hidden_by_a_default() {
    let records = case!("P02_wrong_kind");
    for features in [fixed(&[]), fixed(&[]).default_value(-1)] {
        assert_eq!(int64s(&features, &records[0]).unwrap(), [7]);
        for (record, found) in [(&records[1], "float"), (&records[2], "bytes")] {
            let kind = kind_of(int64s(&features, record));
            assert_eq!(kind, ErrorKind::WrongKind { expected: "int64", found });
        }
    }
}

#[test]
fn p03_a_wrong_count_is_told_as_n_of_m() {
    let records = case!("P03_wrong_count");
    let features = Features::new().fixed_len::<i64>("v", [3]);
    assert_eq!(int64s(&features, &records[0]).unwrap(), [1, 2, 3]);
    for (record, found) in [(&records[1], 2), (&records[2], 4)] {
        let error = int64s(&features, record).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::WrongShape { found, expected: 3 });
        assert!(error.to_string().contains(&format!("{found} values where 3")), "{error}");
    }
}

#[test]
fn p04_p09_a_feature_without_kind_is_as_a_missing_one() {
    for records in [case!("P04a_kind_not_set"), case!("P09c_entry_without_value")] {
        let record = &records[0];
        assert_eq!(Example::parse(record).unwrap().get("label").unwrap().kind(), Kind::None);
        assert_eq!(kind_of(int64s(&fixed(&[]), record)), ErrorKind::MissingFeature);
        assert_eq!(int64s(&fixed(&[]).default_value(-1), record).unwrap(), [-1]);
        let ragged = Features::new().var_len::<i64>("label").parse(&[record]).unwrap().remove(0).1;
        assert_eq!((ragged.values().len(), ragged.row_lengths()), (0, Some(&[0][..])));
    }
}

#[test]
fn p05_p06_p07_p09_p10_the_rules_of_protocol_buffers_hold() {
    assert_eq!(view(&case!("P05a_duplicate_key")[0], "label"), [2]);
    let glued = &case!("P06a_concatenated_examples")[0];
    assert_eq!([view(glued, "a"), view(glued, "b"), view(glued, "c")], [[1], [3], [4]]);
    assert_eq!(view(&case!("P07a_unknown_top_level")[0], "label"), [7]);
    assert_eq!(view(&case!("P07e_unknown_in_list")[0], "label"), [7]);
    assert_eq!(view(&case!("P09a_value_before_key")[0], "label"), [7]);
    let odd = &case!("P10_non_utf8_key")[0];
    assert_eq!(view(odd, "label"), [2]);
    let example = Example::parse(odd).unwrap();
    for (key, feature) in &example {
        assert_eq!(example.get(key).unwrap().len(), feature.len());
    }
    assert!(example.iter().any(|(key, _)| std::str::from_utf8(key).is_err()));
}

#[test]
fn p08_numbers_are_exact_packed_or_not() {
    let expected =
        [0, 1, -1, 127, 128, -128, 2_147_483_648, -2_147_483_648, 9_007_199_254_740_993, i64::MAX, i64::MIN];
    for records in [case!("P08a_int64_packed"), case!("P08b_int64_unpacked")] {
        assert_eq!(view(&records[0], "v"), expected);
        let features = Features::new().var_len::<i64>("v");
        assert_eq!(int64s(&features, &records[0]).unwrap(), expected);
    }
    let expected: [u32; 9] =
        [0, 0x8000_0000, 0x3fc0_0000, 0x7f80_0000, 0xff80_0000, 1, 0x7f7f_ffff, 0x7fc0_0001, 0xffa0_0000];
    for records in [case!("P08d_float_packed_nan"), case!("P08e_float_unpacked")] {
        let feature = Example::parse(&records[0]).unwrap().get("v").unwrap();
        assert_eq!(feature.floats().map(f32::to_bits).collect::<Vec<_>>(), expected);
        let error = Features::new().fixed_len::<f32>("v", []).parse(&[&records[0]]).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::WrongShape { found: 9, expected: 1 });
    }
}

#[test]
fn p11_empty_examples_have_no_features() {
    let records = case!("P11_empty_examples");
    assert_eq!(records.len(), 3);
    for record in &records {
        let example = Example::parse(record).unwrap();
        assert_eq!((example.len(), example.is_empty(), example.iter().count()), (0, true, 0));
        assert_eq!(kind_of(int64s(&fixed(&[]), record)), ErrorKind::MissingFeature);
    }
}

#[test]
fn p12_p17_what_is_no_protocol_buffer_is_refused_with_its_byte() {
    let files = [
        ("varint", case!("P12b_varint_11_bytes")),
        ("child", case!("P12c_child_longer_than_parent")),
        ("groups", case!("P12e_deep_groups")),
        ("cut", case!("P12f_cut_short")),
        ("pickle", case!("P17_not_protobuf")),
    ];
    for (name, records) in files {
        for record in &records {
            let error = Example::parse(record).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::MalformedProto, "{name}: {error}");
            let offset = error.offset().unwrap();
            assert!(offset <= record.len() as u64, "{name}: {error}");
            assert!(error.to_string().contains(&format!("at byte {offset} of the payload")), "{error}");
            assert_eq!(*SequenceExample::parse(record).unwrap_err().kind(), ErrorKind::MalformedProto);
            let error = fixed(&[]).parse(&[&record]).unwrap_err();
            assert_eq!((error.kind(), error.record()), (&ErrorKind::MalformedProto, Some(0)), "{name}");
            // The raw features want no protocol buffer.
            let raw = Features::raw().parse(&[&record]).unwrap().remove(0);
            assert_eq!(raw.0, b"record");
            assert_eq!(raw.1.get::<Vec<u8>>().unwrap().get(0), Some(&record[..]));
        }
    }
}

#[test]
fn p13_a_sequence_is_whole_as_a_sequence_and_its_context_as_an_example() {
    let record = &case!("P13a_sequence_example")[0];
    let sequence = SequenceExample::parse(record).unwrap();
    let steps = |key: &str| -> Vec<Vec<i64>> {
        sequence.list(key).unwrap().iter().map(|step| step.int64s().collect()).collect()
    };
    assert_eq!(steps("words"), [vec![1], vec![2], vec![3]]);
    assert_eq!(steps("chars"), [vec![1, 2, 3], vec![], vec![2, 3, 4]]);
    assert!(sequence.list("id").is_none());
    assert_eq!(view(record, "id"), [5]);
    assert_eq!(sequence.context().iter().count(), 1);
    assert_eq!(PayloadKind::of(record), PayloadKind::SequenceExample);

    let features =
        Features::new().fixed_len::<i64>("id", []).sequence::<i64>("words").sequence::<i64>("chars");
    let columns = features.parse(&[record, record]).unwrap();
    let Column::Ragged(chars) = &columns[2].1 else { panic!("a sequence is ragged") };
    assert_eq!(chars.values.get::<i64>().unwrap()[..], [1, 2, 3, 2, 3, 4, 1, 2, 3, 2, 3, 4]);
    assert_eq!(chars.row_lengths, [3, 3]);
    assert_eq!(chars.step_lengths.as_deref(), Some(&[3, 0, 3, 3, 0, 3][..]));
}

#[test]
fn p14_lists_of_any_length_are_ragged_and_padded_only_when_asked() {
    let records = case!("P14_multi_label");
    let Column::Ragged(ragged) = Features::new().var_len::<i64>("l").parse(&records).unwrap().remove(0).1
    else {
        panic!("a column of lists is ragged");
    };
    assert_eq!(ragged.row_lengths, [1, 3, 0, 2]);
    assert_eq!(ragged.values.get::<i64>().unwrap()[..], [3, 1, 2, 5, 9, 9]);

    let padded =
        Features::new().padded::<i64>("l", []).default_value(-1).parse(&records).unwrap().remove(0).1;
    assert_eq!(padded.shape(), Some(&[4, 3][..]));
    assert_eq!(padded.row_lengths(), Some(&[1, 3, 0, 2][..]));
    assert_eq!(padded.get::<i64>().unwrap()[..], [3, -1, -1, 1, 2, 5, -1, -1, -1, 9, 9, -1]);
}

#[test]
fn p15_all_byte_strings_of_a_feature_are_given_the_empty_one_too() {
    let record = &case!("P15_several_images_in_one_feature")[0];
    let feature = Example::parse(record).unwrap().get("frames").unwrap();
    assert_eq!(feature.bytes().collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
    let column = Features::new().var_len::<Vec<u8>>("frames").parse(&[record]).unwrap().remove(0).1;
    assert_eq!(column.get::<Vec<u8>>().unwrap().iter().collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
}

#[test]
fn p16_drift_is_counted_key_by_key_and_left_out_of_the_inferred_features() {
    let mut profile = Profile::new();
    case!("P16_schema_drift").iter().for_each(|record| profile.add(record));
    let keys: std::collections::BTreeMap<_, _> = profile.keys().collect();
    let a = keys[&b"a"[..]];
    assert_eq!((a.int64, a.float, a.bytes, a.present, a.kind()), (1, 1, 0, 2, None));
    assert_eq!(keys[&b"b"[..]].kinds(), [(Kind::Bytes, 3)]);
    let c = keys[&b"c"[..]];
    assert_eq!((c.int64, c.count.unwrap().min, c.count.unwrap().max), (1, 2, 2));
    let expected = json!({"b": {"var_len": {"dtype": "bytes"}}, "c": {"var_len": {"dtype": "int64"}}});
    assert_eq!(profile.features().to_json(), expected);
}

#[test]
fn p19_one_key_of_3000_is_found() {
    let record = &case!("P19_many_features")[0];
    let example = Example::parse(record).unwrap();
    assert_eq!(example.len(), 3000);
    let (key, feature) = example.iter().last().unwrap();
    let features = Features::new().var_len::<i64>(key);
    assert_eq!(int64s(&features, record).unwrap(), feature.int64s().collect::<Vec<_>>());
}
