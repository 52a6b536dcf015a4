//! `tfr-index`: index, check, show, repair and export TFRecord files.

#![allow(dead_code)]

mod atomic;
mod cli;
mod cmd;
mod failure;
mod input;
mod npz;
mod output;
mod progress;
mod selection;
mod sheet;
mod units;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
