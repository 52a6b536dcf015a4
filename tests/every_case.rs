//! The fear: a situation that users reported is on the list of cases, and no test looks at it any more.

mod store_support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use store_support::*;

/// Cases about files, indexes, maps, paths and writers: by whom each is asserted. Those of `fmt` go through the tests
/// of `corrupt_framing` file by file, as `store.json` says what is expected.
const CASES: &[(&str, &str, &[&str])] = &[
    ("F01", "corrupt_framing", &["streams", "stores"]),
    ("F02", "corrupt_framing", &["streams", "stores"]),
    ("F03", "corrupt_framing", &["streams", "stores"]),
    ("F04a", "huge_records", &["records_above_two_and_four_gib"]),
    ("F05a", "corrupt_framing", &["streams", "stores"]),
    ("F05c", "corrupt_framing", &["streams", "stores"]),
    ("F05d", "corrupt_framing", &["streams", "stores"]),
    ("F05e", "corrupt_framing", &["streams", "stores"]),
    ("F05g", "corrupt_framing", &["streams", "stores"]),
    ("F06a", "corrupt_framing", &["streams", "stores", "a_claim_allocates_nothing"]),
    ("F06c", "corrupt_framing", &["streams", "stores"]),
    ("F06d", "corrupt_framing", &["streams", "stores", "verification_finds_every_problem"]),
    ("F07a", "corrupt_framing", &["streams", "stores"]),
    ("F07b", "corrupt_framing", &["streams", "stores"]),
    ("F07c", "corrupt_framing", &["streams", "stores"]),
    ("F08a", "corrupt_framing", &["streams", "stores", "zero_fill_is_named"]),
    ("F09", "corrupt_framing", &["streams", "stores"]),
    ("F10a", "corrupt_framing", &["salvage_keeps_all_but_the_lost"]),
    ("F11a", "corrupt_framing", &["streams", "stores"]),
    ("F11c", "corrupt_framing", &["streams", "stores", "other_formats_are_named"]),
    ("F12a", "corrupt_framing", &["streams", "stores"]),
    ("F12b", "corrupt_framing", &["streams", "stores"]),
    ("F12c", "corrupt_framing", &["streams", "stores"]),
    ("F12e", "corrupt_framing", &["streams", "stores"]),
    ("F12f", "corrupt_framing", &["streams", "stores"]),
    ("F12h", "corrupt_framing", &["streams", "stores"]),
    ("F13a", "corrupt_framing", &["streams", "stores"]),
    ("F14", "corrupt_framing", &["streams", "stores"]),
    ("P22", "corrupt_framing", &["a_flip_that_leaves_the_message_valid"]),
    ("X01", "stale_index", &["a_grown_file"]),
    ("X02", "stale_index", &["a_file_replaced_by_one_of_the_same_size"]),
    ("X04", "stale_index", &["another_files_index"]),
    ("X05", "text_index", &["what_the_tools_write_is_read", "what_does_not_fit_is_named"]),
    ("X06", "stale_index", &["damaged_sidecars_have_names"]),
    (
        "X07",
        "concurrent_builders",
        &["eight_processes_end_with_one_good_index", "killed_builders_leave_none_or_a_whole_index"],
    ),
    ("X09", "shard_sets", &["links_to_one_file_count_once"]),
    ("X10", "index_places", &["one_bad_file_does_not_keep_others_from_being_indexed"]),
    ("M01", "source_changed", &["a_file_cut_while_it_is_read_is_an_error"]),
    ("M03", "many_shards", &["many_shards_with_few_descriptors", "more_shards_than_maps"]),
    ("M05", "large_values", &["a_feature_of_70_megabytes_is_whole"]),
    ("T01", "shard_sets", &["strays_break_nothing"]),
    ("T02", "shard_sets", &["a_missing_shard_is_named"]),
    ("T04", "shard_sets", &["two_sets_in_one_folder_are_listed"]),
    ("T06", "shard_sets", &["strays_break_nothing"]),
    ("T09", "odd_paths", &["odd_names_are_literal"]),
    ("T10", "../tools/tfr-index/tests/cases", &["t10_errors_in_a_pipeline"]),
    ("W01", "writer_atomicity", &["dropped_it_leaves_nothing", "killed_it_leaves_no_half_file"]),
    ("W02", "golden_framing", &["writer_writes_the_same_bytes"]),
    ("W04", "writer_atomicity", &["what_exists_is_not_overwritten", "appending_checks_the_tail"]),
];

#[test]
fn every_case_has_a_test_that_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (case, file, names) in CASES {
        let text = std::fs::read_to_string(tests.join(format!("{file}.rs"))).unwrap();
        for name in *names {
            assert!(text.contains(&format!("#[test]\nfn {name}()")), "{case}: {file} has no test {name}");
        }
    }
}

#[test]
fn every_case_of_the_collection_is_known() {
    let known: BTreeSet<&str> = CASES.iter().map(|(case, _, _)| *case).collect();
    assert_eq!(known.len(), CASES.len());
    let cases = data("TFRMAP_CASES", "cases");
    let read = |name: &str| std::fs::read_to_string(cases.join(name));
    let list = read("manifest.json").or_else(|_| read("store.json")).unwrap();
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    let mut files = BTreeMap::new();
    for entry in &list {
        let case = entry["case"].as_str().unwrap();
        if case.starts_with(['F', 'X', 'M', 'T', 'W']) {
            files.entry(case).or_insert_with(Vec::new).push(entry["file"].as_str().unwrap());
        }
    }
    let unknown: Vec<_> = files.keys().filter(|case| !known.contains(*case)).collect();
    assert!(unknown.is_empty(), "no test is known for {unknown:?}");
    // Files are looked at by name, or all that lie in `fmt`.
    for (case, file, _) in CASES {
        let text =
            std::fs::read_to_string(format!("{}/tests/{file}.rs", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for path in files.get(case).into_iter().flatten() {
            let (folder, name) = path.split_once('/').unwrap();
            let looked_at = match folder {
                "fmt" => text.contains("starts_with(\"fmt/\")"),
                "dirs" => text.contains(name.split_once('/').unwrap().0),
                _ => text.contains(name),
            };
            assert!(looked_at, "{case}: {file} does not look at {path}");
        }
    }
}
