//! Fear: a fast engine with a wrong answer gets a row in the table.

mod common;

use common::{Bench, CHECKSUM, RECORDS, right, row};

#[test]
fn the_right_answer_counts() {
    let table = Bench::new("label", "").engine("good", "peer", &right("1234")).run();
    assert!(row(&table, "good").contains("**1,234**"), "{table}");
}

#[test]
fn a_wrong_checksum_does_not() {
    let script = right("9999").replace(CHECKSUM, "deadbeef");
    let table = Bench::new("label", "").engine("bad", "peer", &script).run();
    assert!(row(&table, "bad").contains("*wrong*: checksum deadbeef instead of"), "{table}");
    assert!(!row(&table, "bad").contains("9,999"), "{table}");
}

#[test]
fn a_record_too_few_does_not() {
    let script = right("9999").replace(&format!(": {RECORDS},"), ": 99,");
    let table = Bench::new("label", "").engine("bad", "peer", &script).run();
    assert!(row(&table, "bad").contains("*wrong*: delivered 99 records instead of 100"), "{table}");
}

#[test]
fn no_checksum_at_all_does_not() {
    let script = right("9999").replace("checksum", "sum");
    let table = Bench::new("label", "").engine("bad", "peer", &script).run();
    assert!(row(&table, "bad").contains("*wrong*: gave no checksum"), "{table}");
}

#[test]
fn values_beyond_the_tolerance_do_not() {
    // 32 sampled records of 32 floats, all zero where the generator made random ones.
    let script = format!("head -c 4096 /dev/zero > \"$JOB_VALUES_OUT\"\n{}", right("9999"));
    let table = Bench::new("tensor", "values = true").engine("bad", "peer", &script).run();
    assert!(row(&table, "bad").contains("*wrong*: values up to"), "{table}");
}

#[test]
fn values_that_are_missing_do_not() {
    let table = Bench::new("tensor", "values = true").engine("bad", "peer", &right("9999")).run();
    assert!(row(&table, "bad").contains("*wrong*: gave no values"), "{table}");
}

#[test]
fn values_left_by_another_engine_are_not_taken_for_its_own() {
    let leaves = "cp \"$JOB_DATA/reference.f32\" \"$JOB_VALUES_OUT\"\n".to_owned() + &right("10");
    let table = Bench::new("tensor", "values = true")
        .engine("first", "peer", &leaves)
        .engine("second", "peer", &right("9999"))
        .run();
    assert!(row(&table, "first").contains("**10**"), "{table}");
    assert!(row(&table, "second").contains("*wrong*: gave no values"), "{table}");
}

#[test]
fn one_wrong_run_spoils_the_others() {
    let script = format!(
        "if [ -e \"$JOB_WORK/seen\" ]; then {}; else touch \"$JOB_WORK/seen\"; {}; fi\n",
        right("9999").replace(CHECKSUM, "deadbeef").trim(),
        right("1000").trim()
    );
    let table = Bench::new("label", "").engine("flaky", "peer", &script).run();
    assert!(row(&table, "flaky").contains("*wrong*"), "{table}");
}
