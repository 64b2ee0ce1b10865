//! `nimlanes man`

use clap::CommandFactory;
use clap_mangen::Man;

use crate::Cli;
use crate::terminal::failure::Failure;
use crate::terminal::output::print;

/// Print the manual page of the program, or of a command
#[derive(clap::Args)]
#[command(after_help = "Example: nimlanes man compare | man --local-file -")]
pub struct Args {
    /// The command
    command: Option<String>,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let mut program = Cli::command();
    program.build(); // commands get their full names
    let command = match &args.command {
        None => &program,
        Some(name) => program.find_subcommand(name).ok_or_else(|| {
            let names: Vec<_> =
                program.get_subcommands().filter(|command| !command.is_hide_set()).map(|c| c.get_name()).collect();
            Failure::Usage(format!("there is no command {name}; allowed: {}", names.join(", ")))
        })?,
    };
    let mut page = Vec::new();
    let version = concat!("nimlanes ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(version).render(&mut page).map_err(|error| Failure::Failed(error.to_string()))?;
    print(&String::from_utf8_lossy(&page))
}
