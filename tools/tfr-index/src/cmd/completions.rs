//! `completions`: the shell's own completion script.

use clap_complete::Shell;

use crate::failure::{Exit, Result};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  tfr-index completions bash > ~/.local/share/bash-completion/completions/tfr-index
  tfr-index completions zsh > ~/.zfunc/_tfr-index
  tfr-index completions fish > ~/.config/fish/completions/tfr-index.fish";

/// Print the completion script of a shell.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &Args, mut command: clap::Command, out: &mut Output) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tfr-index", &mut script);
    out.bytes(&script)?;
    Ok(Exit::Fine)
}
