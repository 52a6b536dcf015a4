//! The fear: a file that TensorFlow reads is read differently, or one that it refuses is read.
//!
//! Where TensorFlow is wrong or silent the right behaviour is named here, case by case.

mod store_support;

use serde_json::Value;
use store_support::*;
use tfrmap::{Access, RecordReader, RecordWriter, Store};

fn golden() -> Value {
    let folder = data("TFRMAP_GOLDEN", "golden");
    serde_json::from_str(&std::fs::read_to_string(folder.join("framing/golden.json")).unwrap()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Whether records are those TensorFlow gave, as far as the golden file tells.
fn same(records: &[Vec<u8>], golden: &Value) -> bool {
    let one = |record: &[u8], golden: &Value| match golden {
        Value::String(text) => hex(record) == *text,
        other => other["len"].as_u64() == Some(record.len() as u64),
    };
    match golden {
        Value::Array(list) => records.len() == list.len() && records.iter().zip(list).all(|(r, g)| one(r, g)),
        many => {
            many["count"].as_u64() == Some(records.len() as u64)
                && one(&records[0], &many["first"])
                && one(records.last().unwrap(), &many["last"])
        }
    }
}

/// Compressed streams of which TensorFlow reads fewer records, or none, or does not see that they are cut or damaged
/// (it checks a stream's own checksum before it gives out what was in the last block). Ours: the number of records,
/// and the error after them.
const OURS: &[(&str, usize, Option<&str>)] = &[
    ("gzip_members_with_empty", 2, None),
    ("gzip_trunc_before_trailer", 3, Some("Truncated")),
    ("zlib_trunc_1", 0, Some("Truncated")),
    ("zlib_trunc_before_adler", 3, Some("Truncated")),
    ("zlib_trunc_in_adler", 3, Some("Truncated")),
    ("gzip_bad_crc32", 3, Some("CorruptData")),
    ("gzip_bad_isize", 3, Some("CorruptData")),
    ("zlib_bad_adler", 3, Some("CorruptData")),
    // Content decides: a gzip stream is read as one whatever it is said to be.
    ("gzip_read_as_plain", 3, None),
    ("gzip_read_as_zlib", 3, None),
    ("lowercase_gzip", 3, None),
    // Headers that are cut: TensorFlow takes them for the end.
    ("trunc_in_length", 1, Some("Truncated")),
    ("trunc_after_length", 1, Some("Truncated")),
    ("good_then_1_byte", 3, Some("Truncated")),
    ("one_byte", 0, Some("Truncated")),
];

#[test]
fn every_case() {
    let (golden, folder) = (golden(), data("TFRMAP_GOLDEN", "golden").join("framing"));
    let mut checked = 0;
    for case in golden["cases"].as_array().unwrap() {
        let (id, files) = (case["id"].as_str().unwrap(), case["files"].as_array().unwrap());
        let [file] = &files[..] else { continue };
        let path = folder.join(file.as_str().unwrap());
        if case["group"] == "writer" || !path.is_file() || !case["dataset"].is_object() {
            continue;
        }
        let (mut records, mut errors) = (Vec::new(), Vec::new());
        // Records behind a damaged payload are good too, where TensorFlow has stopped: those before are compared.
        let mut before = None;
        for item in RecordReader::open(&path).unwrap() {
            match item {
                Ok(payload) => records.push(payload),
                Err(error) => {
                    before.get_or_insert(records.len());
                    errors.push(error);
                }
            }
        }
        let dataset = &case["dataset"];
        let found = errors.first().map(class);
        if dataset["yielded_before_error"].is_null() {
            // TensorFlow hung or crashed.
            assert_eq!((before, found), (Some(1), Some("LengthPastEnd")), "{id}");
        } else if let Some((_, count, error)) = OURS.iter().find(|(name, ..)| *name == id) {
            assert_eq!((before.unwrap_or(records.len()), found), (*count, *error), "{id}");
        } else {
            assert_eq!(dataset["error"].is_object(), found.is_some(), "{id}: {errors:?}");
            let before = before.unwrap_or(records.len());
            // A cut stream gives all records that are whole; TensorFlow gives those of whole blocks.
            let cut = case["group"] == "compressed" && found.is_some();
            let count = dataset["yielded_before_error"].as_u64().unwrap() as usize;
            assert!(before == count || cut && before > count, "{id}: {before} records");
            assert!(cut || same(&records[..before], &dataset["records"]), "{id}");
        }
        for access in [Access::Map, Access::Read] {
            let compressed = case["group"] == "compressed" && path.metadata().unwrap().len() > 0;
            match Store::open_with(&in_memory(access), &path) {
                Ok(store) => {
                    let all: Vec<_> = (0..store.len()).map(|i| store.get(i)).collect();
                    assert_eq!(all.iter().find_map(|item| item.as_ref().err()).map(class), found, "{id}");
                    let good: Vec<_> = all.into_iter().flatten().map(|record| record.to_vec()).collect();
                    assert_eq!(good, records, "{id}");
                }
                Err(error) if compressed => {
                    assert!(
                        ["Compressed", "CorruptLength", "Truncated"].contains(&class(&error)),
                        "{id}: {error}"
                    );
                }
                Err(error) => assert_eq!(Some(class(&error)), errors.last().map(class), "{id}: {error}"),
            }
        }
        checked += 1;
    }
    assert!(checked > 75, "{checked}");
}

#[test]
fn writer_writes_the_same_bytes() {
    for case in golden()["cases"].as_array().unwrap().iter().filter(|case| case["group"] == "writer") {
        let mut writer = RecordWriter::new(Vec::new());
        for record in case["args"]["records_hex"].as_array().unwrap() {
            writer.write(&unhex(record.as_str().unwrap())).unwrap();
        }
        let (ours, theirs) = (writer.into_inner(), unhex(case["writer"]["file_hex"].as_str().unwrap()));
        if case["compression"] == "" {
            assert_eq!(ours, theirs);
        }
        let records: Vec<_> = RecordReader::new(&theirs[..]).map(Result::unwrap).collect();
        assert_eq!(framed(&records), ours);
    }
}

/// The first `n` bytes of a file, for every `n`, against what TensorFlow did.
#[test]
fn prefixes() {
    let golden = golden();
    let mut swept = 0;
    for case in golden["cases"].as_array().unwrap() {
        for (key, prefix) in [("prefix_sweep", true), ("flip_sweep", false)] {
            let Some(results) = case[key].as_array() else { continue };
            let path =
                data("TFRMAP_GOLDEN", "golden").join("framing").join(case["files"][0].as_str().unwrap());
            let whole = std::fs::read(path).unwrap();
            for (n, result) in results.iter().enumerate() {
                let mut bytes = whole.clone();
                if prefix {
                    bytes.truncate(n)
                } else {
                    bytes[n] ^= 0x10
                }
                let items = stream(&bytes);
                let before = items.iter().take_while(|item| item.is_ok()).count() as u64;
                assert_eq!(result[0][0].as_u64(), Some(before), "{key} {n}");
                let failed = items.iter().any(Result::is_err);
                // Ours sees a cut inside a header too.
                assert!(failed || result[0][1].is_null(), "{key} {n}");
                swept += 1;
            }
        }
    }
    assert!(swept > 80, "{swept}");
}
