//! Fear: records of real projects are read otherwise than their writers meant.
//!
//! Runs over the folder that the environment's TFRMAP_CORPUS names, against its manifest and against prost.

mod example_support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use example_support::{prost_example, prost_map, prost_words, view_example, view_words};
use prost::Message;
use serde_json::Value;
use tfrmap::{Example, PayloadKind, Profile, RecordReader, SequenceExample, proto};

fn corpus() -> Option<(PathBuf, Vec<Value>)> {
    let Some(folder) = std::env::var_os("TFRMAP_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: set TFRMAP_CORPUS to the folder of real files to run this test");
        return None;
    };
    let manifest = fs::read_to_string(folder.join("manifest.json")).expect("the corpus has a manifest");
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    Some((folder, manifest["files"].as_array().unwrap().clone()))
}

fn check_features(file: &str, expected: &Value, example: &Example<'_>) {
    let expected = expected.as_object().unwrap();
    let found = view_example(example);
    assert_eq!(found.len(), expected.len(), "{file}");
    for (key, facts) in expected {
        let (kind, words) = &found[key.as_bytes()];
        assert_eq!(facts["kind"].as_str().unwrap().replace("unset", "none"), *kind, "{file}: {key}");
        assert_eq!(facts["count"].as_u64().unwrap(), words.len() as u64, "{file}: {key}");
        if let Some(length) = facts["first_value_len"].as_u64() {
            assert_eq!(length * 2, words[0].len() as u64, "{file}: {key}");
        }
    }
}

fn check_lists(file: &str, expected: &Value, sequence: &SequenceExample<'_>) {
    let lists: BTreeMap<_, _> = sequence.lists().collect();
    assert_eq!(lists.len(), expected.as_object().unwrap().len(), "{file}");
    for (key, facts) in expected.as_object().unwrap() {
        let list = lists[key.as_bytes()];
        assert_eq!(facts["steps"].as_u64().unwrap(), list.len() as u64, "{file}: {key}");
        let mut kinds: Vec<_> = list.iter().map(|step| step.kind().name().replace("none", "unset")).collect();
        kinds.sort();
        kinds.dedup();
        let expected: Vec<_> =
            facts["kinds"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
        assert_eq!(kinds, expected, "{file}: {key}");
    }
}

#[test]
fn every_record_is_read_as_by_prost_and_the_first_as_the_manifest_says() {
    let Some((folder, files)) = corpus() else { return };
    let mut records = 0;
    for facts in files.iter().filter(|facts| facts["is_tfrecord"] == true) {
        let file = facts["file"].as_str().unwrap();
        let kind = facts["payload_type"].as_str().unwrap_or("none");
        if kind != "Example" && kind != "SequenceExample" {
            continue;
        }
        let reader = RecordReader::open(folder.join(file)).unwrap();
        for (i, payload) in reader.enumerate() {
            let payload = payload.unwrap();
            records += 1;
            let example = Example::parse(&payload).unwrap();
            assert_eq!(Some(view_example(&example)), prost_example(&payload), "{file}: record {i}");
            if i == 0 && kind == "Example" {
                check_features(file, &facts["features_first_record"], &example);
            }
            if kind == "SequenceExample" {
                let sequence = SequenceExample::parse(&payload).unwrap();
                let message = proto::SequenceExample::decode(&payload[..]).unwrap();
                let context = message.context.as_ref().map(prost_map).unwrap_or_default();
                assert_eq!(view_example(&sequence.context()), context);
                for entry in message.feature_lists.unwrap_or_default().feature_list {
                    let steps = sequence.list(&entry.key).unwrap();
                    let words: Vec<_> = steps.iter().map(|step| view_words(&step)).collect();
                    assert_eq!(words, entry.value.feature.iter().map(prost_words).collect::<Vec<_>>());
                }
                if i == 0 {
                    check_features(file, &facts["context_first_record"], &sequence.context());
                    check_lists(file, &facts["feature_lists_first_record"], &sequence);
                }
            }
        }
    }
    assert!(records > 30_000, "only {records} records");
}

#[test]
fn every_file_is_named_by_its_content_and_read_by_what_is_inferred() {
    let Some((folder, files)) = corpus() else { return };
    for facts in files.iter().filter(|facts| facts["is_tfrecord"] == true) {
        let file = facts["file"].as_str().unwrap();
        let reader = RecordReader::open(folder.join(file)).unwrap();
        let payloads: Vec<Vec<u8>> = reader.take(200).map(Result::unwrap).collect();
        let mut profile = Profile::new();
        payloads.iter().for_each(|payload| profile.add(payload));
        let expected = match facts["payload_type"].as_str() {
            Some("Example") => PayloadKind::Example,
            Some("SequenceExample") => PayloadKind::SequenceExample,
            Some("Event") => PayloadKind::Event,
            Some("text") => PayloadKind::Text,
            _ => PayloadKind::Unknown,
        };
        assert_eq!(profile.payload(), expected, "{file}");
        let columns = profile.features().parse(&payloads).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(columns.iter().all(|(_, column)| column.rows() == payloads.len()), "{file}");
    }
}
