//! `nimlanes --generate`

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::terminal::failure::Failure;
use crate::terminal::output::print;

/// What installations have beside the program.
#[derive(Clone, Copy, ValueEnum)]
pub enum Generate {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

/// Prints the manual page, or a script that completes commands and options in a shell.
pub fn main(what: Generate, mut program: Command) -> Result<(), Failure> {
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
    generate(shell, &mut program, "nimlanes", &mut made);
    print(&String::from_utf8_lossy(&made))
}
