//! `nimlanes --generate`

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::terminal::failure::Failure;
use crate::terminal::output::print;

/// Values of an option before commands: the script would have files there.
const FISH: &str =
    "complete -c nimlanes -n __fish_use_subcommand -l generate -x -a 'man complete-bash complete-zsh complete-fish'\n";

/// What installations have beside the program.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generate {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

/// The program as completions have it: without the commands that it gives to others of itself.
fn shown(program: &Command) -> Command {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("nimlanes").disable_help_subcommand(true).args(program.get_arguments()).subcommands(commands)
}

/// Prints the manual page, or a script that completes commands and options in a shell.
pub fn main(what: Generate, program: Command) -> Result<(), Failure> {
    let mut made = Vec::new();
    let shell = match what {
        Generate::Man => {
            let version = concat!("nimlanes ", env!("CARGO_PKG_VERSION"));
            let written = Man::new(program).source(version).render(&mut made);
            written.map_err(|error| Failure::Failed(error.to_string()))?;
            return print(&String::from_utf8_lossy(&made));
        }
        Generate::CompleteBash => Shell::Bash,
        Generate::CompleteZsh => Shell::Zsh,
        Generate::CompleteFish => Shell::Fish,
    };
    generate(shell, &mut shown(&program), "nimlanes", &mut made);
    if what == Generate::CompleteFish {
        made.extend(FISH.as_bytes());
    }
    print(&String::from_utf8_lossy(&made))
}
