//! Fear: what fuzzing found once comes back, and nobody notices until it is fuzzed again; or the targets rot.
//!
//! Runs the body of each fuzz target, with all that it asserts, over its seeds and over the inputs kept in `fuzz/corpus`.
//! Inputs of longer runs are replayed too where `TFRMAP_FUZZ_CORPUS` names their folder (`fuzz/grown`).
//! Where `TFRMAP_FUZZ_SEEDS` names a folder the seeds are also written there, as cargo-fuzz wants them: `TARGET/seed-N`.

#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Runs a target over its inputs; fails with the names of those that fail.
fn replay(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = fuzz::TARGETS.iter().find(|target| target.name == name).expect("the target is listed");
    let seeds = (target.seeds)(&root.join("tests/data"));
    assert!(!seeds.is_empty());
    if let Some(folder) = std::env::var_os("TFRMAP_FUZZ_SEEDS").map(|folder| Path::new(&folder).join(name)) {
        fs::create_dir_all(&folder).unwrap();
        for (i, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{i}")), seed).unwrap();
        }
    }
    let mut inputs: Vec<_> =
        seeds.into_iter().enumerate().map(|(i, seed)| (format!("seed-{i}"), seed)).collect();
    let more = std::env::var_os("TFRMAP_FUZZ_CORPUS").map(PathBuf::from);
    for folder in [Some(root.join("fuzz/corpus")), more].into_iter().flatten() {
        for entry in fs::read_dir(folder.join(name)).into_iter().flatten().flatten() {
            inputs.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap()));
        }
    }
    let bad: Vec<_> = inputs
        .iter()
        .filter(|(_, input)| catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err())
        .map(|(name, _)| name)
        .collect();
    assert!(bad.is_empty(), "{} of {} inputs fail: {bad:?}", bad.len(), inputs.len());
}

macro_rules! replay {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_replayed_and_can_be_fuzzed() {
            let replayed = [$(stringify!($name)),*];
            assert!(fuzz::TARGETS.iter().map(|target| target.name).eq(replayed));
            let manifest = include_str!("../fuzz/Cargo.toml");
            let script = include_str!("../fuzz/run.sh");
            assert!(replayed.iter().all(|name| manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\""))));
            assert!(script.contains(&format!("all=\"{}\"", replayed.join(" "))));
        }
    };
}

replay!(
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
);
