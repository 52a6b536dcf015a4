//! The machine and the sources this program was built from, for the head of a report.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

/// CPU, cores, memory, kernel, compiler, commit and time, as far as they can be found out.
pub fn describe() -> Value {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let flags = field("flags").unwrap_or_default();
    let simd: Vec<&str> = ["ssse3", "avx2", "avx512bw"].into_iter().filter(|f| has_word(&flags, f)).collect();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory_kb = memory.lines().next().and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    json!({
        "cpu": field("model name"),
        "family_model_stepping": [field("cpu family"), field("model\t"), field("stepping")],
        "simd": simd,
        "cores": std::thread::available_parallelism().map(usize::from).unwrap_or(1),
        "memory_gb": memory_kb.map(|kb| (kb as f64 * 1024.0 / 1e9).round()),
        "kernel": kernel.trim(),
        "rustc": env!("TFRMAP_BENCH_RUSTC"),
        "commit": told(env!("TFRMAP_BENCH_COMMIT")),
        "uncommitted_changes": changed(),
        "date": said(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"])),
        "load_average": fs::read_to_string("/proc/loadavg").ok().and_then(|l| l.split(' ').next().map(str::to_owned)),
    })
}

/// Whether what is measured was built from, or now differs from, something else than the commit: definitions and engines are read
/// from the sources when they are run.
fn changed() -> bool {
    let Some(commit) = told(env!("TFRMAP_BENCH_COMMIT")) else { return false };
    let mut git = Command::new("git");
    git.args(["-C", env!("CARGO_MANIFEST_DIR"), "diff", "--quiet", commit, "--"]);
    git.args(env!("TFRMAP_BENCH_MEASURED").split(' '));
    told(env!("TFRMAP_BENCH_CHANGED")).is_some() || git.status().is_ok_and(|status| !status.success())
}

/// What the build script found out, if it did.
fn told(text: &'static str) -> Option<&'static str> {
    (!text.is_empty()).then_some(text)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_whitespace().any(|w| w == word)
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|o| o.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
