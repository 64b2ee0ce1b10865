//! Commands, one a file: what each of them asks of the library, and how its answer is shown.

mod args;
mod ceilings;
mod compare;
mod env;
mod failure;
mod grundy;
mod interrupt;
mod kernels;
mod monitor;
mod output;
mod plot;
mod positions;
mod profile;
mod report;
mod run;
mod solve;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Combinatorial games decided with bits: solve them, compare the kernels, see where the time goes.
///
/// Without a command, all games are solved at their published limits.
#[derive(Parser)]
#[command(name = "nimlanes", version, propagate_version = true)]
#[command(after_help = "Example: nimlanes compare mex_subtraction --size 100000")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON: an array with an object a game
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    Solve(solve::Args),
    Positions(positions::Args),
    Plot(plot::Args),
    Grundy(grundy::Args),
    Kernels(kernels::Args),
    Verify(verify::Args),
    Compare(compare::Args),
    Run(run::Args),
    Profile(profile::Args),
    Report(report::Args),
    Ceilings(ceilings::Args),
    Env(env::Args),
}

/// Parses the command line, runs the command, and says on stderr, in one line, what went wrong.
pub fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => dispatch(cli),
        Err(error) => explain(&error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Help and version are printed; of a usage error the sentence is kept and the rest left to `--help`.
fn explain(error: &clap::Error) -> Result<(), Failure> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return output::print(&text);
    }
    let sentence: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let sentence = sentence.join(" ");
    Err(Failure::Usage(format!("{}; see --help", sentence.strip_prefix("error: ").unwrap_or(&sentence))))
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        None => solve::main(&solve::Args::all(cli.json)),
        Some(_) if cli.json => Err(Failure::Usage("--json stands after the command it is for".to_owned())),
        Some(Command::Solve(args)) => solve::main(&args),
        Some(Command::Positions(args)) => positions::main(&args),
        Some(Command::Plot(args)) => plot::main(&args),
        Some(Command::Grundy(args)) => grundy::main(&args),
        Some(Command::Kernels(args)) => kernels::main(&args),
        Some(Command::Verify(args)) => verify::main(&args),
        Some(Command::Compare(args)) => compare::main(&args),
        Some(Command::Run(args)) => run::main(&args),
        Some(Command::Profile(args)) => profile::main(&args),
        Some(Command::Report(args)) => report::main(&args),
        Some(Command::Ceilings(args)) => ceilings::main(&args),
        Some(Command::Env(args)) => env::main(&args),
    }
}
