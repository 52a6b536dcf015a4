//! `tfr-index`: index, check, show, repair and export TFRecord files.

mod atomic;
mod classes;
mod cli;
mod cmd;
mod copy;
mod failure;
mod input;
mod keys;
mod labels;
mod npz;
mod output;
mod problem;
mod progress;
mod selection;
mod shards;
mod space;
mod spec_text;
mod units;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
