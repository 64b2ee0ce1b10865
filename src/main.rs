//! The command line of nimlanes: `nimlanes help` says what it does.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
