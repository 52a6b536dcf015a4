//! Benchmarks of tfrmap against what people use instead: every engine is a process, every answer is checked before its speed
//! counts, and a peer that is not installed is reported as missing. See `benches/harness/README.md`.

mod check;
mod cli;
mod data;
mod definition;
mod engine;
mod failure;
mod mixing;
mod peers;
mod report;
mod run;
mod settings;
mod stats;

use std::process::ExitCode;

pub(crate) use failure::Failure;

fn main() -> ExitCode {
    match cli::main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("tfrmap-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}
