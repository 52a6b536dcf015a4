//! What each fuzz target does with any bytes, and what must then hold.
//!
//! The bodies are here, and not in `fuzz_targets/`, so that two can run them: cargo-fuzz, which looks for new inputs, and
//! `tests/fuzz_replay.rs`, which replays the known ones on stable Rust.

pub mod batches;
pub mod compressed;
pub mod example;
pub mod features_json;
pub mod frames;
pub mod images;
pub mod index;
mod input;
pub mod jpeg;
pub mod paths;
mod pools;
mod scratch;
pub mod sequence_example;
pub mod sidecar_data;
pub mod state_json;
pub mod text_index;

use std::path::Path;

/// One target: its body, and inputs to begin with, made of the test data in a folder.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    pub seeds: fn(&Path) -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        &[$(Target { name: stringify!($name), run: $name::run, seeds: $name::seeds }),*]
    };
}

/// All targets, those first that strangers reach most easily.
pub const TARGETS: &[Target] = targets![
    jpeg,
    images,
    sidecar_data,
    frames,
    compressed,
    example,
    batches,
    sequence_example,
    index,
    text_index,
    features_json,
    state_json,
    paths,
];
