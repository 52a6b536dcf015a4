//! Fear: a record is read otherwise than TensorFlow reads it.
//!
//! 657 parses that TensorFlow 2.21 did (`tests/data/golden/parse`): what it read we read, bit for bit, and what it refused
//! we refuse. Where TensorFlow breaks the rules of protocol buffers, we keep them: each such case is listed here with the
//! reason, and is held against prost instead.

mod example_support;

use std::collections::BTreeMap;

use example_support::{Words, hex, prost_example, unhex, words};
use serde_json::{Map, Value, json};
use tfrmap::{Column, ErrorKind, ExampleBuilder, Features, Result};

/// Why a case may end otherwise than in TensorFlow. Each is checked to be as it says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    /// TensorFlow refuses what protocol buffers allow; we read what prost reads.
    Stricter,
    /// TensorFlow refuses an entry without a value; here the feature is missing.
    UnsetCounts,
    /// TensorFlow keeps the first of two kinds; we refuse, as the last one is not the one asked for.
    FirstKindWins,
    /// TensorFlow reads what is no protocol buffer; we refuse it as MalformedProto, as prost does.
    Laxer,
    /// TensorFlow drops values without a word; we read what prost reads.
    LosesValues,
    /// One value fills a shape here.
    ScalarFills,
    /// A list that is missing has no steps here; TensorFlow can be told to refuse.
    NoAllowMissing,
    /// The kind of the spec (SparseFeature) is none of ours: its parts are read by var_len, and never compared.
    NotOurs,
}

/// The exceptions, by the start of the case's name.
const EXCEPTIONS: &[(&str, Why)] = &[
    // Unknown fields and groups at any depth, a padded tag, parts given twice: all of them protocol buffers.
    ("unk_features_varint", Why::Stricter),
    ("unk_features_varint_after", Why::Stricter),
    ("unk_entry_varint_last", Why::Stricter),
    ("unk_list_varint", Why::Stricter),
    ("unk_features_fixed64_after", Why::Stricter),
    ("unk_entry_fixed64", Why::Stricter),
    ("unk_features_len_after", Why::Stricter),
    ("unk_entry_len", Why::Stricter),
    ("unk_entry_len_last", Why::Stricter),
    ("unk_example_group_before", Why::Stricter),
    ("unk_example_group_after", Why::Stricter),
    ("unk_features_group", Why::Stricter),
    ("unk_features_group_after", Why::Stricter),
    ("unk_entry_group", Why::Stricter),
    ("unk_entry_group_first", Why::Stricter),
    ("unk_entry_group_last", Why::Stricter),
    ("unk_feature_group", Why::Stricter),
    ("unk_list_group", Why::Stricter),
    ("unk_features_fixed32_after", Why::Stricter),
    ("unk_entry_fixed32_first", Why::Stricter),
    ("unk_entry_fixed32_last", Why::Stricter),
    ("unk_features_bigfield_after", Why::Stricter),
    ("unk_entry_bigfield", Why::Stricter),
    ("unk_entry_bigfield_first", Why::Stricter),
    ("unk_entry_bigfield_last", Why::Stricter),
    ("unk_feature_bigfield", Why::Stricter),
    ("tag_nonminimal", Why::Stricter),
    ("value_field_twice_in_entry", Why::Stricter),
    ("entry_empty", Why::Stricter),
    ("oneof_two_kinds_int_last", Why::Stricter),
    ("oneof_two_kinds_float_last_as_float", Why::Stricter),
    ("mixed_packed_int_fixed5", Why::Stricter),
    // An entry without a value is an unset feature, and that is as a missing one: the default counts.
    ("entry_without_value_fixed_d", Why::UnsetCounts),
    ("entry_without_value_fixed_f_d", Why::UnsetCounts),
    ("entry_without_value_var_s", Why::UnsetCounts),
    ("entry_without_value_fseq", Why::UnsetCounts),
    // Junk that protocol buffers refuse: in or behind lists that TensorFlow does not look at, or as lengths.
    ("unk_feature_endgroup_after", Why::Laxer),
    ("unk_list_endgroup_after", Why::Laxer),
    ("unk_in_unlisted_feature_endgroup", Why::Laxer),
    ("unk_feature_wire6_after", Why::Laxer),
    ("unk_list_wire6_after", Why::Laxer),
    ("unk_in_unlisted_feature_wire7", Why::Laxer),
    ("unk_example_field0_before", Why::Laxer),
    ("unk_example_field0_after", Why::Laxer),
    ("unk_feature_field0_after", Why::Laxer),
    ("unk_list_field0_after", Why::Laxer),
    ("unk_list_group_unterminated_after", Why::Laxer),
    ("unk_in_unlisted_feature_group_unterminated", Why::Laxer),
    ("float_packed_len_not_x4", Why::Laxer),
    ("len_overrun", Why::Laxer),
    ("len_huge", Why::Laxer),
    ("len_negative", Why::Laxer),
    ("trailing_text", Why::Laxer),
    ("malformed_unlisted", Why::Laxer),
    ("malformed_unlisted_after", Why::Laxer),
    // A second list, or what follows an unpacked run, is dropped without a word.
    ("mixed_packed_int", Why::LosesValues),
    ("int_list_twice", Why::LosesValues),
    // The first kind wins in TensorFlow; in a oneof the last one does.
    ("oneof_two_kinds_float_last", Why::FirstKindWins),
    // 1 value for 2 places.
    ("default_scalar_for_2", Why::ScalarFills),
    ("seq_empty_bytes_required", Why::NoAllowMissing),
    ("sparse_len_mismatch", Why::NotOurs),
];

fn golden() -> Vec<Value> {
    let text = include_str!("data/golden/parse/golden.json");
    let json: Value = serde_json::from_str(text).unwrap();
    json["cases"].as_array().unwrap().clone()
}

fn exception(id: &str) -> Option<Why> {
    let id = id.strip_suffix("/batch1").unwrap_or(id);
    EXCEPTIONS.iter().find(|(name, _)| *name == id).map(|(_, why)| *why)
}

fn key_of(spec: &Value) -> String {
    match &spec["key"] {
        Value::String(key) => key.clone(),
        key => format!("hex:{}", key["hex"].as_str().unwrap()),
    }
}

fn dtype_of(spec: &Value) -> Value {
    json!(spec["dtype"].as_str().unwrap().replace("string", "bytes"))
}

/// A spec of TensorFlow's as one of ours; in feature lists, a step is what TensorFlow calls a feature there.
fn column_spec(spec: &Value, in_lists: bool) -> Value {
    let dtype = dtype_of(spec);
    match (spec["kind"].as_str().unwrap(), in_lists) {
        ("FixedLenSequenceFeature", true) => json!({"sequence": {"dtype": dtype, "shape": spec["shape"]}}),
        (_, true) => json!({"sequence": {"dtype": dtype}}),
        ("FixedLenFeature", _) => {
            json!({"fixed_len": {"dtype": dtype, "shape": spec["shape"], "default_value": spec["default"]}})
        }
        ("FixedLenSequenceFeature", _) => {
            json!({"padded": {"dtype": dtype, "shape": spec["shape"], "default_value": spec["default"]}})
        }
        _ => json!({"var_len": {"dtype": dtype}}),
    }
}

/// The columns that a list of specs asks for, and for each the name of TensorFlow's result.
fn spec_of(specs: &Value, in_lists: bool) -> BTreeMap<String, (String, Value)> {
    let mut columns = BTreeMap::new();
    for spec in specs.as_array().into_iter().flatten() {
        let name = key_of(spec);
        let key = spec["value_key"].as_str().map_or(name.clone(), str::to_string);
        columns.insert(key, (name, column_spec(spec, in_lists)));
    }
    columns
}

/// What a column holds, without the first dimension where one record was parsed alone.
#[derive(Debug, PartialEq)]
struct Got {
    values: Words,
    /// Of a dense result.
    shape: Option<Vec<usize>>,
    /// Of a ragged result.
    row_lengths: Option<Vec<usize>>,
}

fn value_words(tensor: &Value) -> Words {
    ["values", "bits", "hex"]
        .iter()
        .find_map(|name| tensor[*name].as_array())
        .unwrap()
        .iter()
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_string))
        .collect()
}

fn usizes(list: &Value) -> Vec<usize> {
    list.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

fn differences(splits: &[usize]) -> Vec<usize> {
    splits.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect()
}

/// A result of TensorFlow's. The innermost lengths are those that say how many values lie together.
fn expected(tensor: &Value) -> Got {
    if tensor["sparse"] == true {
        let mut rows = usizes(&tensor["dense_shape"]);
        let width = rows.pop().map_or(0, |_| rows.len());
        let mut lengths = vec![0; rows.iter().product::<usize>()];
        for index in usizes(&tensor["indices"]["values"]).chunks(width + 1) {
            let row = index[..width].iter().zip(&rows).fold(0, |row, (i, size)| row * size + i);
            lengths[row] += 1;
        }
        return Got { values: value_words(&tensor["values"]), shape: None, row_lengths: Some(lengths) };
    }
    if tensor["ragged"] == true {
        let splits = tensor["nested_row_splits"].as_array().unwrap().last().unwrap();
        let lengths = differences(&usizes(splits));
        return Got { values: value_words(&tensor["flat_values"]), shape: None, row_lengths: Some(lengths) };
    }
    Got { values: value_words(tensor), shape: Some(usizes(&tensor["shape"])), row_lengths: None }
}

/// A column of ours, in the form of what is expected.
fn got(column: &Column, single: bool, like: &Got) -> Got {
    let values = words(column.values());
    match column {
        Column::Dense(dense) => {
            let shape = dense.shape[usize::from(single)..].to_vec();
            Got { values, shape: Some(shape), row_lengths: None }
        }
        Column::Ragged(ragged) => {
            let lengths = ragged.step_lengths.clone().unwrap_or_else(|| ragged.row_lengths.clone());
            match &like.shape {
                // One record alone: TensorFlow's result is dense, [values] or [steps, ..shape].
                Some(_) if single || ragged.row_lengths.len() == 1 => {
                    let rows = if single { vec![] } else { vec![1] };
                    let shape = [&rows[..], &ragged.row_lengths, &ragged.element].concat();
                    Got { values, shape: Some(shape), row_lengths: None }
                }
                _ => Got { values, shape: None, row_lengths: Some(lengths) },
            }
        }
        _ => panic!("a kind of column that the test does not know"),
    }
}

type Columns = Vec<(Vec<u8>, Column)>;

/// Parses a case's inputs with its spec.
fn run(case: &Value, inputs: &[Vec<u8>]) -> Result<Columns> {
    if case["op"] == "decode_raw" {
        let args = case["args"].as_object().unwrap();
        let mut spec: Map<String, Value> = args.clone();
        spec.remove("batch");
        let payloads: Vec<_> =
            inputs.iter().map(|raw| ExampleBuilder::new().bytes("k", raw.clone()).encode()).collect();
        return Features::from_json(&json!({"k": {"decode_raw": spec}}))?.parse(&payloads);
    }
    let mut columns = Map::new();
    for list in ["features", "context_features", "sequence_features"] {
        for (key, (_, spec)) in spec_of(&case[list], list == "sequence_features") {
            columns.insert(key, spec);
        }
    }
    Features::from_json(&Value::Object(columns))?.parse(inputs)
}

/// Every column against TensorFlow's result.
fn compare(id: &str, case: &Value, expect: &Value, columns: &Columns, single: bool) {
    if case["op"] == "decode_raw" {
        let expect = expected(expect);
        let single = case["args"]["batch"] != true;
        assert_eq!(got(&columns[0].1, single, &expect), expect, "{id}");
        return;
    }
    for list in ["features", "context_features", "sequence_features"] {
        let expect = match list {
            "features" => expect,
            "context_features" => &expect["context"],
            _ => &expect["feature_lists"],
        };
        for (key, (name, _)) in spec_of(&case[list], list == "sequence_features") {
            let key = key.strip_prefix("hex:").map_or(key.clone().into_bytes(), unhex);
            let column = &columns.iter().find(|(other, _)| *other == key).unwrap().1;
            let mut expect = expected(&expect[&name]);
            let partitioned = case[list]
                .as_array()
                .unwrap()
                .iter()
                .any(|spec| key_of(spec) == name && !spec["value_key"].is_null());
            let mut got = got(column, single, &expect);
            if partitioned {
                // Sorting by an index and cutting into parts is left to the reader of the columns.
                (got.row_lengths, expect.row_lengths) = (None, None);
                (got.shape, expect.shape) = (None, None);
                got.values.sort();
                expect.values.sort();
            }
            if single && expect.shape.is_none() && list != "sequence_features" {
                // A sparse result of one record has no rows.
                expect.row_lengths = expect.row_lengths.map(|lengths| vec![lengths.iter().sum()]);
            }
            assert_eq!(got, expect, "{id}: {name}");
        }
    }
}

/// Our columns against prost's reading of the one input.
fn compare_with_prost(id: &str, input: &[u8], columns: &Columns) {
    let map = prost_example(input).unwrap_or_else(|| panic!("{id}: prost refuses it"));
    for (key, column) in columns {
        let (_, values) = map.get(key).unwrap_or_else(|| panic!("{id}: prost has no {}", hex(key)));
        assert_eq!(&words(column.values()), values, "{id}");
    }
}

fn check(id: &str, case: &Value, inputs: &[Vec<u8>], expect: Option<&Value>, why: Option<Why>, single: bool) {
    let outcome = run(case, inputs);
    match (why, expect, outcome) {
        (None, Some(expect), Ok(columns)) => compare(id, case, expect, &columns, single),
        (None, None, Err(error)) => {
            assert!(!error.to_string().is_empty(), "{id}");
        }
        (Some(Why::Stricter), None, Ok(columns)) => compare_with_prost(id, &inputs[0], &columns),
        (Some(Why::LosesValues), _, Ok(columns)) => compare_with_prost(id, &inputs[0], &columns),
        (Some(Why::Laxer), Some(_), Err(error)) => {
            assert_eq!(*error.kind(), ErrorKind::MalformedProto, "{id}: {error}");
            assert!(inputs.iter().any(|input| prost_example(input).is_none()), "{id}: prost accepts it");
        }
        (Some(Why::ScalarFills), None, Ok(columns)) => {
            assert_eq!(words(columns[0].1.values()), ["5", "5"], "{id}");
        }
        (Some(Why::UnsetCounts), None, Ok(columns)) => {
            let (kind, _) = &prost_example(&inputs[0]).unwrap()[&columns[0].0];
            assert_eq!(*kind, "none", "{id}");
        }
        (Some(Why::FirstKindWins), Some(_), Err(error)) => {
            let kind = ErrorKind::WrongKind { expected: "int64", found: "float" };
            assert_eq!(*error.kind(), kind, "{id}");
        }
        (Some(Why::NoAllowMissing), None, Ok(columns)) => {
            assert!(columns.iter().all(|(_, column)| column.values().is_empty()), "{id}");
        }
        (Some(Why::NotOurs), ..) => {}
        (why, expect, outcome) => {
            panic!("{id}: TensorFlow {expect:?}, here {outcome:?}, listed as {why:?}");
        }
    }
}

#[test]
fn every_parse_is_tensorflows_or_a_listed_exception() {
    let mut failures = Vec::new();
    let mut compared = 0;
    for case in golden() {
        let id = case["id"].as_str().unwrap().to_string();
        if case["op"] == "prefix_sweep" {
            continue;
        }
        let inputs: Vec<Vec<u8>> =
            case["inputs"].as_array().unwrap().iter().map(|input| unhex(input.as_str().unwrap())).collect();
        let expect = (case["ok"] == true).then(|| &case["expect"]);
        let single = case["op"].as_str().unwrap().contains("single");
        let run = || check(&id, &case, &inputs, expect, exception(&id), single);
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
            Ok(()) => compared += 1,
            Err(panic) => failures.push(panic.downcast_ref::<String>().cloned().unwrap_or(id)),
        }
    }
    assert!(failures.is_empty(), "{} cases:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(compared, 655);
}

/// Every prefix of an Example, parsed by TensorFlow with fixed and with variable-length features.
#[test]
fn every_prefix_is_read_as_by_tensorflow_where_it_is_a_protocol_buffer() {
    let mut laxer = 0;
    for case in golden().iter().filter(|case| case["op"] == "prefix_sweep") {
        let id = case["id"].as_str().unwrap();
        let whole = unhex(case["inputs"][0].as_str().unwrap());
        for (n, results) in case["expect"].as_array().unwrap().iter().enumerate() {
            for (single, result) in [(true, &results[0]), (false, &results[1])] {
                let inputs = [whole[..n].to_vec()];
                let expect = (result[0] == "ok").then(|| &result[1]);
                let why = (expect.is_some() && prost_example(&inputs[0]).is_none()).then_some(Why::Laxer);
                laxer += usize::from(why.is_some());
                check(&format!("{id}[{n}]"), case, &inputs, expect, why, single);
            }
        }
    }
    assert!(laxer < 20, "{laxer} prefixes that TensorFlow reads and prost refuses");
}
