//! Fear: an engine that fails, hangs or is not there vanishes from the table, or takes the run down with it.

mod common;

use common::{Bench, right, row};

#[test]
fn a_crash_is_shown_with_its_last_words_and_the_run_goes_on() {
    let table = Bench::new("label", "")
        .engine("crashing", "peer", "echo out of luck >&2; exit 3\n")
        .engine("good", "peer", &right("1234"))
        .run();
    assert!(row(&table, "crashing").contains("*crashed*: exit status: 3; out of luck"), "{table}");
    assert!(row(&table, "good").contains("**1,234**"), "{table}");
}

#[test]
fn a_line_before_a_crash_does_not_count() {
    let table = Bench::new("label", "").engine("dying", "peer", &format!("{}exit 1\n", right("9999"))).run();
    assert!(row(&table, "dying").contains("*crashed*"), "{table}");
}

#[test]
fn silence_is_a_failure() {
    let table = Bench::new("label", "").engine("silent", "peer", "exit 0\n").run();
    assert!(row(&table, "silent").contains("*crashed*: printed no JSON line"), "{table}");
}

#[test]
fn an_engine_that_hangs_is_ended_with_its_children() {
    let bench = Bench::new("label", "").engine(
        "hanging",
        "peer",
        "sh -c 'echo $$ > \"$JOB_WORK/pid\"; exec sleep 600'\n",
    );
    let table = bench.run();
    assert!(row(&table, "hanging").contains("*timeout*"), "{table}");
    let pid = common::read(&bench.path("work").join("pid"));
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "the child lives on: {state}");
}

#[test]
fn a_process_left_behind_with_the_output_open_does_not_hold_up_the_run() {
    let script = "setsid sh -c 'echo $$ > \"$JOB_WORK/pid\"; exec sleep 600' &\n".to_owned() + &right("1234");
    let bench = Bench::new("label", "").engine("leaving", "peer", &script);
    let table = bench.run();
    let pid = common::read(&bench.path("work").join("pid"));
    std::process::Command::new("kill").arg(pid.trim()).status().unwrap();
    assert!(row(&table, "leaving").contains("**1,234**"), "{table}");
}

#[test]
fn a_missing_peer_is_reported_with_the_way_to_get_it() {
    let table = Bench::new("label", "").peer("tf.data", "tf").engine("good", "peer", &right("1234")).run();
    assert!(
        row(&table, "tf.data").contains("*missing*: not set up: `tfrmap-bench setup tf` prepares it"),
        "{table}"
    );
}

#[test]
fn an_engine_that_misses_a_module_is_missing_not_crashed() {
    let script = "echo '{\"missing\": \"No module named grain\"}'\n";
    let table = Bench::new("label", "").engine("half", "peer", script).run();
    assert!(row(&table, "half").contains("*missing*: No module named grain"), "{table}");
}
