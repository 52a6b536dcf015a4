//! Any bytes as a SequenceExample: no panic, and what prost reads is read the same.

use std::collections::BTreeMap;
use std::path::Path;

use prost::Message;
use tfrmap::{SequenceExample, proto};

use super::input;

pub fn run(payload: &[u8]) {
    let sequence = SequenceExample::parse(payload).ok();
    let Ok(message) = proto::SequenceExample::decode(payload) else { return };
    let sequence = sequence.expect("prost reads it");
    let entries = message.feature_lists.unwrap_or_default().feature_list;
    let last: BTreeMap<_, _> = entries.into_iter().map(|entry| (entry.key, entry.value)).collect();
    assert_eq!(sequence.lists().count(), last.len());
    for (key, list) in last {
        let steps = sequence.list(&key).expect("prost has the key");
        assert_eq!(steps.len(), list.feature.len());
        for (ours, theirs) in steps.iter().zip(list.feature) {
            let count = match theirs.kind {
                Some(proto::Kind::BytesList(list)) => list.value.len(),
                Some(proto::Kind::FloatList(list)) => list.value.len(),
                Some(proto::Kind::Int64List(list)) => list.value.len(),
                None => 0,
            };
            assert_eq!(ours.len(), count);
            assert_eq!(ours.bytes().count() + ours.floats().count() + ours.int64s().count(), count);
        }
    }
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/parse"), data.join("golden/parse")];
    folders
        .iter()
        .flat_map(|folder| input::payloads(folder, 20_000))
        .filter(|payload| payload.len() < 6000)
        .collect()
}
