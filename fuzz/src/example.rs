//! Any bytes as an Example: no panic, and what prost reads is read the same.

use std::collections::BTreeMap;
use std::path::Path;

use prost::Message;
use tfrmap::{Example, Features, Kind, Profile, proto};

use super::input;

pub fn run(payload: &[u8]) {
    let example = Example::parse(payload).ok();
    if let Ok(message) = proto::Example::decode(payload) {
        let example = example.expect("prost reads it");
        let entries = message.features.unwrap_or_default().feature;
        let last: BTreeMap<_, _> = entries.into_iter().map(|entry| (entry.key, entry.value)).collect();
        assert_eq!(example.len(), last.len());
        for (key, theirs) in last {
            let ours = example.get(&key).expect("prost has the key");
            match theirs.kind {
                Some(proto::Kind::BytesList(list)) => {
                    assert!(ours.bytes().eq(list.value.iter().map(Vec::as_slice)))
                }
                Some(proto::Kind::FloatList(list)) => {
                    assert!(
                        ours.floats().map(f32::to_bits).eq(list.value.iter().map(|value| value.to_bits()))
                    );
                }
                Some(proto::Kind::Int64List(list)) => assert!(ours.int64s().eq(list.value)),
                None => assert_eq!(ours.kind(), Kind::None),
            }
        }
    }
    let mut profile = Profile::new();
    profile.add(payload);
    let features = profile.features();
    features.parse(&[payload]).expect("what was inferred from a record reads it");
    assert!(Features::raw().parse(&[payload]).is_ok());
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/parse"), data.join("golden/parse"), data.join("cases/fmt")];
    folders
        .iter()
        .flat_map(|folder| input::payloads(folder, 20_000))
        .filter(|payload| payload.len() < 6000)
        .collect()
}
