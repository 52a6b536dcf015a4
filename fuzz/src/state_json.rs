//! Any text as a saved state: it is refused, or the run goes on from there.

use std::path::Path;

use tfrmap::{Dataset, DatasetWriter, Features, State};

use super::pools;

thread_local! {
    static DATASET: (tempfile::TempDir, Dataset) = {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = DatasetWriter::create(folder.path().join("data")).unwrap();
        (0..10u8).for_each(|i| writer.write(&[i]).unwrap());
        let dataset = writer.finish().unwrap().with_features(Features::raw());
        (folder, dataset)
    };
}

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(state) = State::from_json(text) else { return };
    let written = state.to_json();
    assert!(written.len() < 200, "{written}");
    assert_eq!(State::from_json(&written).unwrap(), state);
    pools::keep();
    DATASET.with(|(_, dataset)| {
        for dataset in [dataset.clone().epochs(..), dataset.clone().shuffled(7).epochs(0..3)] {
            let Ok(mut batches) = dataset.batches(3).threads(1).prefetch(1).resume(&state) else { continue };
            let epoch = state.epoch();
            if let Some(batch) = batches.next() {
                let batch = batch.unwrap();
                assert!(batch.epoch() >= epoch && !batch.is_empty());
            }
            assert!(batches.state().epoch() >= epoch);
        }
    });
}

pub fn seeds(_data: &Path) -> Vec<Vec<u8>> {
    DATASET.with(|(_, dataset)| {
        let mut plain = dataset.clone().epochs(..).batches(3).threads(1);
        let mut shuffled = dataset.clone().shuffled(7).epochs(0..3).batches(3).threads(1);
        let mut seeds = vec![plain.state().to_json(), shuffled.state().to_json()];
        let _ = (plain.next(), shuffled.nth(4));
        seeds.extend([plain.state().to_json(), shuffled.state().to_json()]);
        seeds.push(plain.state().to_json().replace("\"epoch\":0", "\"epoch\":18446744073709551615"));
        seeds.push(shuffled.state().to_json().replace("\"position\":3", "\"position\":10"));
        seeds.push("[{}, \"fingerprint\"]".into());
        seeds.into_iter().map(String::into_bytes).collect()
    })
}
