//! Fear: the table and the chart of `docs/shuffle.md` cannot be made again.

mod pictures;

use std::fs;
use std::process::Command;

#[test]
fn the_experiment_puts_a_table_and_a_chart_into_the_docs() {
    let folder = tempfile::tempdir().unwrap();
    pictures::write(&folder.path().join("train.tfrecord"), 8, 1);
    pictures::write(&folder.path().join("test.tfrecord"), 2, 2);
    fs::create_dir_all(folder.path().join("docs/img")).unwrap();
    let real = include_str!("../../../docs/shuffle.md");
    fs::write(folder.path().join("docs/shuffle.md"), real).unwrap();

    let status = Command::new(env!("CARGO_BIN_EXE_experiment"))
        .args(["train.tfrecord", "test.tfrecord", "docs", "2", "1"])
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(status.success());

    let page = fs::read_to_string(folder.path().join("docs/shuffle.md")).unwrap();
    let rows = |text: &str| text.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(rows(&page), 3, "a heading and two epochs:\n{page}");
    let around = |text: &str| {
        let (before, rest) = text.split_once("<!-- results -->").unwrap();
        format!("{before}{}", rest.split_once("<!-- end of results -->").unwrap().1)
    };
    assert_eq!(around(&page), around(real));
    let chart = fs::read_to_string(folder.path().join("docs/img/shuffle.svg")).unwrap();
    assert_eq!((chart.matches("<polyline").count(), chart.matches("NaN").count()), (4, 0));
}
