//! Tells the program which state of the sources it was built from, so that results name the code that was measured.

use std::env;
use std::path::Path;
use std::process::Command;

/// What decides about figures, from the repository's root.
const MEASURED: [&str; 5] =
    ["src", "Cargo.lock", "benches/harness/src", "benches/harness/engines", "benches/harness/definitions"];

fn main() {
    for path in MEASURED {
        println!("cargo:rerun-if-changed={}", Path::new("../..").join(path).display());
    }
    // Each commit and each change of branch adds to this log.
    if let Some(log) = said(git().args(["rev-parse", "--git-path", "logs/HEAD"])) {
        println!("cargo:rerun-if-changed={log}");
    }
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let measured = MEASURED.map(|path| format!(":/{path}"));
    let changed = git().args(["diff", "--quiet", "HEAD", "--"]).args(&measured).status();
    let facts = [
        ("COMMIT", said(git().args(["rev-parse", "--short=10", "HEAD"]))),
        ("CHANGED", changed.is_ok_and(|s| !s.success()).then(|| "yes".to_owned())),
        ("MEASURED", Some(measured.join(" "))),
        ("RUSTC", said(Command::new(rustc).arg("--version"))),
    ];
    for (key, text) in facts {
        println!("cargo:rustc-env=TFRMAP_BENCH_{key}={}", text.unwrap_or_default());
    }
}

fn git() -> Command {
    Command::new("git")
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|o| o.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
