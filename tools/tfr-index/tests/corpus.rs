//! Fear: a real file of another program is not understood. Needs TFRMAP_CORPUS, a folder with a `manifest.json`.

mod common;

use std::path::PathBuf;

use common::World;
use serde_json::Value;

fn corpus() -> Option<(PathBuf, Vec<Value>)> {
    let Some(folder) = std::env::var_os("TFRMAP_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: TFRMAP_CORPUS is not set, no real files to test with");
        return None;
    };
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    Some((folder, manifest["files"].as_array().unwrap().clone()))
}

#[test]
fn every_command_answers_rightly_for_each_file() {
    let Some((folder, files)) = corpus() else { return };
    assert!(files.len() > 40);
    for file in &files {
        let name = file["file"].as_str().unwrap();
        let world = World::new();
        let path = world.write("data", std::fs::read(folder.join(name)).unwrap());
        let compression = file["compression"].as_str().unwrap_or("none");
        let records = file["records"].as_u64();
        let commands = [
            "build --json data",
            "info --json data",
            "schema --json data",
            "verify --json data",
            "get --json data 0",
        ];
        if file["is_tfrecord"] == false || compression != "none" {
            for command in commands {
                let run = world.tfr(command).exits(1);
                let all = run.out.clone() + &run.err;
                if file["is_tfrecord"] == true {
                    assert!(
                        all.contains(compression) && all.contains("tfr-index copy"),
                        "{name}: {command}: {all}"
                    );
                } else {
                    assert!(!all.contains("\"good\":1"), "{name}: {command}: {all}");
                    assert!(
                        run.err.contains("data: ") || run.out.contains("\"kind\""),
                        "{name}: {command}: {all}"
                    );
                }
            }
        }
        if file["is_tfrecord"] == false {
            continue;
        }
        let records = records.unwrap();
        if compression == "none" {
            assert_eq!(world.tfr(commands[0]).exits(0).last()["records"], records, "{name}");
            let info = world.tfr(commands[1]).exits(0).last();
            assert_eq!(
                (&info["records"], &info["shards"][0]["index"]),
                (&records.into(), &"fresh".into()),
                "{name}"
            );
            assert_eq!(world.tfr(commands[3]).exits(0).last()["good"], records, "{name}");
            let payload = world.tfr(commands[2]).exits(0).last()["payload"].as_str().unwrap().to_owned();
            let expected = file["payload_type"].as_str().unwrap_or("");
            for kind in ["SequenceExample", "Event"] {
                assert_eq!(expected.contains(kind), payload == kind, "{name}: {payload} for {expected}");
            }
            if expected == "tf.train.Example" || expected == "Example" {
                assert_eq!(payload, "Example", "{name}");
            }
            if records > 0 {
                let get = world.tfr(commands[4]).exits(0).last();
                assert_eq!(get["length"], file["first_record"]["length"], "{name}");
            }
        }
        world.tfr("copy data --out copy").exits(0);
        assert_eq!(world.payloads("copy").len() as u64, records, "{name}");
        assert_eq!(digest(&world, "copy"), file["payload_digest"].as_str().unwrap(), "{name}");
        std::fs::remove_file(path).unwrap();
    }
}

/// sha256 over each payload's length and bytes, by the system's own tool.
fn digest(world: &World, name: &str) -> String {
    let mut bytes = Vec::new();
    for payload in world.payloads(name) {
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(payload);
    }
    world.write("digest", bytes);
    let run = world.shell("sha256sum digest").exits(0);
    run.out.split(' ').next().unwrap().to_owned()
}
