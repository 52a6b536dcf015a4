//! The command line: its commands, what they share, and the way from arguments to an exit code.

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::cmd;
use crate::failure::{Exit, Result};
use crate::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  tfr-index build data/                          index every shard of a folder
  tfr-index info data/                           how many records, how large
  tfr-index schema data/                         what is inside, as a spec to paste
  tfr-index preview data/ --out sheet.png        look at the pictures
  tfr-index verify --decode data/                find every damaged record and picture
  tfr-index copy data/ --out all.tfrecord        merge, split, filter, decompress, repair

PATH is a file, a folder that holds one set, or a quoted pattern such as 'data/train-*'. A path that exists is always \
taken literally. The index of DIR/NAME is DIR/.tfrmap/NAME.tfri; the data itself is never changed.

Exit codes: 0 fine; 1 something is wrong in the data, an index or the shard set; 2 arguments, a missing path, \
permission, a full disk, an output that exists.";

/// Index, check, show, repair and export TFRecord files.
#[derive(Parser)]
#[command(name = "tfr-index", version, after_help = EXAMPLES, disable_help_subcommand = true)]
struct Cli {
    /// Print JSON Lines on standard output instead of text.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(cmd::build::Args),
    Info(cmd::info::Args),
    Schema(cmd::schema::Args),
    Preview(cmd::preview::Args),
    Get(cmd::get::Args),
    Verify(cmd::verify::Args),
    Batch(cmd::batch::Args),
    Export(cmd::export::Args),
    Copy(cmd::copy::Args),
    Pack(cmd::pack::Args),
    Completions(cmd::completions::Args),
}

/// Parses the command line, runs the command and tells how it went.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    output::show_notices();
    let mut out = Output::new(cli.json);
    let done = dispatch(cli.command, &mut out);
    let exit = match done.and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit,
        Err(failure) => {
            output::report(&failure);
            let told = if out.is_json() { out.json(&failure.to_json()) } else { Ok(()) };
            match told.and_then(|()| out.flush()) {
                Ok(()) => failure.exit(),
                Err(_) => Exit::Refused,
            }
        }
    };
    ExitCode::from(exit.code())
}

fn dispatch(command: Command, out: &mut Output) -> Result<Exit> {
    match command {
        Command::Build(args) => cmd::build::run(&args, out),
        Command::Info(args) => cmd::info::run(&args, out),
        Command::Schema(args) => cmd::schema::run(&args, out),
        Command::Preview(args) => cmd::preview::run(&args, out),
        Command::Get(args) => cmd::get::run(&args, out),
        Command::Verify(args) => cmd::verify::run(&args, out),
        Command::Batch(args) => cmd::batch::run(&args, out),
        Command::Export(args) => cmd::export::run(&args, out),
        Command::Copy(args) => cmd::copy::run(&args, out),
        Command::Pack(args) => cmd::pack::run(&args, out),
        Command::Completions(args) => cmd::completions::run(&args, Cli::command(), out),
    }
}
