//! `nimlanes completions`

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::Cli;
use crate::terminal::failure::Failure;
use crate::terminal::output::print;

/// Print a script that completes commands and options in a shell
#[derive(clap::Args)]
#[command(after_help = "Example: nimlanes completions bash > ~/.local/share/bash-completion/completions/nimlanes")]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "nimlanes", &mut script);
    print(&String::from_utf8_lossy(&script))
}
