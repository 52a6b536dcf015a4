//! The fear: it works with files of our own making only.

mod store_support;

use serde_json::Value;
use sha2::{Digest, Sha256};
use store_support::*;
use tfrmap::{Access, RecordReader, Store};

#[test]
fn counts_ends_and_digests() {
    let Some(folder) = std::env::var_os("TFRMAP_CORPUS").map(std::path::PathBuf::from) else {
        eprintln!("SKIPPED: real files are not checked, since TFRMAP_CORPUS names no folder");
        return;
    };
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("manifest.json")).unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap();
    for file in files {
        let (name, path) = (file["file"].as_str().unwrap(), folder.join(file["file"].as_str().unwrap()));
        if file["is_tfrecord"] == false {
            let error = Store::open_with(&in_memory(Access::Auto), &path).unwrap_err();
            assert!(["NotTfrecord", "CorruptLength"].contains(&class(&error)), "{name}: {error}");
            continue;
        }
        let mut digest = Sha256::new();
        let mut offsets = Vec::new();
        let mut reader = RecordReader::open(&path).unwrap();
        let mut payload = Vec::new();
        loop {
            let offset = reader.offset();
            if !reader.read_into(&mut payload).unwrap_or_else(|error| panic!("{error}")) {
                break;
            }
            offsets.push((offset, payload.len() as u64));
            digest.update((payload.len() as u64).to_le_bytes());
            digest.update(&payload);
        }
        assert_eq!(Some(offsets.len() as u64), file["records"].as_u64(), "{name}");
        let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(Some(digest.as_str()), file["payload_digest"].as_str(), "{name}");
        for (end, found) in [("first_record", offsets.first()), ("last_record", offsets.last())] {
            if let Some((offset, length)) = found {
                assert_eq!(Some(*offset), file[end]["offset"].as_u64(), "{name}");
                assert_eq!(Some(*length), file[end]["length"].as_u64(), "{name}");
            }
        }
        for access in [Access::Map, Access::Read] {
            let opened = Store::open_with(&in_memory(access), &path);
            if file["compression"] == "none" {
                let store = opened.unwrap();
                store.verify().unwrap();
                let spans: Vec<_> = (0..store.len())
                    .map(|i| store.span(i).unwrap())
                    .map(|s| (s.offset, s.payload_len))
                    .collect();
                assert_eq!(spans, offsets, "{name}");
            } else {
                assert_eq!(class(&opened.unwrap_err()), "Compressed", "{name}");
            }
        }
    }
    assert!(files.len() > 50);
}
