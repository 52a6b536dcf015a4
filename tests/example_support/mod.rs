//! What the tests of examples share: values as comparable words, from columns and from prost's messages.

#![allow(dead_code)]

use prost::Message;
use tfrmap::Values;
use tfrmap::proto;

/// Values as words, so that floats compare by bits and byte strings by bytes.
pub type Words = Vec<String>;

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// The values of a column: integers in decimal, floats as their bits in decimal, byte strings in hexadecimal.
pub fn words(values: &Values) -> Words {
    fn all<T>(values: &[T], word: impl Fn(&T) -> String) -> Words {
        values.iter().map(word).collect()
    }
    match values {
        Values::UInt8(v) => all(v, u8::to_string),
        Values::Int8(v) => all(v, i8::to_string),
        Values::UInt16(v) => all(v, u16::to_string),
        Values::Int16(v) => all(v, i16::to_string),
        Values::Int32(v) => all(v, i32::to_string),
        Values::Int64(v) => all(v, i64::to_string),
        Values::Float16(v) => all(v, |x| x.0.to_string()),
        Values::Float32(v) => all(v, |x| x.to_bits().to_string()),
        Values::Float64(v) => all(v, |x| x.to_bits().to_string()),
        Values::Bool(v) => all(v, |x| u8::from(*x).to_string()),
        Values::Complex64(v) => v.iter().flatten().map(|x| x.to_bits().to_string()).collect(),
        Values::Complex128(v) => v.iter().flatten().map(|x| x.to_bits().to_string()).collect(),
        Values::Bytes(v) => v.iter().map(hex).collect(),
        _ => panic!("a type of values that the tests do not know"),
    }
}

/// The kind and the values of a feature of prost's.
pub fn prost_words(feature: &proto::Feature) -> (&'static str, Words) {
    match &feature.kind {
        Some(proto::Kind::BytesList(list)) => ("bytes", list.value.iter().map(|v| hex(v)).collect()),
        Some(proto::Kind::FloatList(list)) => {
            ("float", list.value.iter().map(|v| v.to_bits().to_string()).collect())
        }
        Some(proto::Kind::Int64List(list)) => ("int64", list.value.iter().map(i64::to_string).collect()),
        None => ("none", Vec::new()),
    }
}

/// The kind and the values of a feature of a view.
pub fn view_words(feature: &tfrmap::Feature<'_>) -> (&'static str, Words) {
    let words: Words = match feature.kind() {
        tfrmap::Kind::Bytes => feature.bytes().map(hex).collect(),
        tfrmap::Kind::Float => feature.floats().map(|v| v.to_bits().to_string()).collect(),
        tfrmap::Kind::Int64 => feature.int64s().map(|v| v.to_string()).collect(),
        tfrmap::Kind::None => Vec::new(),
    };
    assert_eq!(words.len(), feature.len(), "the number of values and the length disagree");
    (feature.kind().name(), words)
}

/// Keys (the last of equal ones) with kinds and values, in ascending order.
pub type Map = std::collections::BTreeMap<Vec<u8>, (&'static str, Words)>;

pub fn prost_map(features: &proto::Features) -> Map {
    features.feature.iter().map(|entry| (entry.key.clone(), prost_words(&entry.value))).collect()
}

pub fn prost_example(payload: &[u8]) -> Option<Map> {
    let example = proto::Example::decode(payload).ok()?;
    Some(example.features.as_ref().map(prost_map).unwrap_or_default())
}

pub fn view_example(example: &tfrmap::Example<'_>) -> Map {
    let map: Map = example.iter().map(|(key, feature)| (key.to_vec(), view_words(&feature))).collect();
    assert_eq!(map.len(), example.len(), "a key was shown twice");
    for (key, words) in &map {
        let got = example.get(key).expect("a key that was shown is found");
        assert_eq!(&view_words(&got), words, "get and iter disagree");
    }
    map
}

/// The payloads of a TFRecord file whose framing is sound.
pub fn records(mut file: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while let Some((length, rest)) = file.split_first_chunk::<8>() {
        let length = u64::from_le_bytes(*length) as usize;
        records.push(rest[4..4 + length].to_vec());
        file = &rest[4 + length + 4..];
    }
    records
}
