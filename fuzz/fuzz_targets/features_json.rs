//! Any JSON as a spec: no panic, and what is taken survives being written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrmap::Features;

fuzz_target!(|text: &str| {
    let Ok(json) = serde_json::from_str(text) else { return };
    let Ok(features) = Features::from_json(&json) else { return };
    let written = features.to_json();
    let again = Features::from_json(&written).expect("what was written is taken");
    assert_eq!(again.to_json(), written);
    let _ = (features.to_string(), features.to_tensorflow(), features.to_dali());
    let _ = features.parse(&[b"\x0a\x0a\x0a\x08\x0a\x01a\x12\x03\x1a\x01\x0a"]);
});
