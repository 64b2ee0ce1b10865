//! The commands, one per file: what each accepts, which steps it takes, and what it prints.
//!
//! Code of several is mostly elsewhere; their arguments are in [`arguments`].

mod answer;
pub mod arguments;
mod compare;
mod env;
mod family;
pub mod generate;
mod grundy;
mod kernels;
mod plot;
mod positions;
mod profile;
mod report;
mod run;
mod solve;
mod survey;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traced;
mod verify;
mod work;

use clap::Subcommand;

use crate::terminal::failure::Failure;

/// A command with its arguments.
#[derive(Subcommand)]
pub enum Command {
    Solve(solve::Args),
    Positions(positions::Args),
    Plot(plot::Args),
    Grundy(grundy::Args),
    Survey(survey::Args),
    Family(family::Args),
    Kernels(kernels::Args),
    Verify(verify::Args),
    Compare(compare::Args),
    Run(run::Args),
    Profile(profile::Args),
    Report(report::Args),
    Env(env::Args),
    #[command(hide = true)]
    Answer(answer::Args),
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[command(hide = true)]
    Traced(traced::Args),
}

impl Command {
    /// Runs the command.
    pub fn execute(&self) -> Result<(), Failure> {
        match self {
            Command::Solve(args) => solve::main(args),
            Command::Positions(args) => positions::main(args),
            Command::Plot(args) => plot::main(args),
            Command::Grundy(args) => grundy::main(args),
            Command::Survey(args) => survey::main(args),
            Command::Family(args) => family::main(args),
            Command::Kernels(args) => kernels::main(args),
            Command::Verify(args) => verify::main(args),
            Command::Compare(args) => compare::main(args),
            Command::Run(args) => run::main(args),
            Command::Profile(args) => profile::main(args),
            Command::Report(args) => report::main(args),
            Command::Env(args) => env::main(args),
            Command::Answer(args) => answer::main(args),
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            Command::Traced(args) => traced::main(args),
        }
    }
}
