//! Fear: the report believes noise, hides a defeat, or shows figures that no run gave.

mod common;

use common::{Bench, read, right, row};

/// Counts its runs and gives the n-th of `rates`.
fn varying(rates: [u32; 3]) -> String {
    let answers: Vec<String> =
        rates.iter().enumerate().map(|(i, r)| format!("{i}) {} ;;", right(&r.to_string()).trim())).collect();
    format!(
        "n=$(cat \"$JOB_WORK/n\" 2>/dev/null || echo 0); echo $((n + 1)) > \"$JOB_WORK/n\"\ncase $n in {} esac\n",
        answers.join(" ")
    )
}

#[test]
fn runs_far_apart_are_called_noisy_and_their_median_shown() {
    let table = Bench::new("label", "").engine("wild", "peer", &varying([100, 50, 120])).run();
    assert!(row(&table, "wild").contains("| **100** | 50 to 120 |"), "{table}");
    assert!(table.contains("- wild: noisy: runs 70 % apart"), "{table}");
}

#[test]
fn a_defeat_is_said_and_the_readme_gets_its_table() {
    let bench = Bench::new("label", "").engine("tfrmap", "subject", &right("100")).engine(
        "peer",
        "peer",
        &right("200"),
    );
    bench.run();
    let readme = bench.path("README.md");
    std::fs::write(
        &readme,
        "a\n<!-- benchmarks: written by tfrmap-bench report -->\nold\n<!-- /benchmarks -->\nz\n",
    )
    .unwrap();
    let docs = bench.path("docs");
    bench.program(&["report", "--docs", docs.to_str().unwrap(), "--readme", readme.to_str().unwrap()]);
    let text = read(&docs.join("benchmarks.md"));
    assert!(text.contains("- A test, records/s: peer 200, tfrmap 100."), "{text}");
    assert!(row(&text, "peer").contains("| 0.50x |"), "{text}");
    assert!(read(&docs.join("img/bench-main.svg")).starts_with("<svg"));
    let readme = read(&readme);
    assert!(readme.starts_with("a\n<!--") && readme.ends_with("<!-- /benchmarks -->\nz\n"), "{readme}");
    assert!(readme.contains("| peer | **200** |") && !readme.contains("old"), "{readme}");
}

#[test]
fn only_the_latest_run_is_reported() {
    let bench = Bench::new("label", "").engine("tfrmap", "subject", &varying([10, 10, 10]));
    bench.run();
    std::fs::write(bench.path("tfrmap.sh"), right("77")).unwrap();
    bench.run();
    let docs = bench.path("docs");
    bench.program(&["report", "--docs", docs.to_str().unwrap()]);
    let text = read(&docs.join("benchmarks.md"));
    assert!(row(&text, "tfrmap").contains("| **77** | 77 to 77 |"), "{text}");
}
