//! The program; see `nimlanes --help`. Its parts, each of which uses only those after it: [`commands`] has a file for
//! each command; [`report`] makes RESULTS.md; [`measuring`] times, counts and profiles; [`terminal`] talks to the user;
//! [`drawing`] makes pictures; [`files`] keeps what was found. Benches draw flamegraphs as well, with [`profile`].
//!
//! It is a library beside a `main` of one line, so that it compiles while the machine code of the kernels is generated.
#![cfg(feature = "cli")]
#![allow(rustdoc::private_intra_doc_links, reason = "nearly all of a program is private")]

#[allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "the documentation of an option is its help"
)]
mod commands;
mod drawing;
#[doc(hidden)] // public for fuzzing
pub mod files;
mod measuring;
#[doc(hidden)] // public for fuzzing
pub mod report;
mod terminal;

use std::process::ExitCode;

use clap::{ArgAction, CommandFactory, Parser};
use nimlanes::cores::named::KERNEL;
use nimlanes::kernel::Tier;
use nimlanes::machine::ISA_MAX;

use crate::commands::Command;
use crate::commands::generate::{self, Generate};
use crate::measuring::profile::SAMPLER;
use crate::terminal::failure::Failure;
use crate::terminal::{interrupt, output};

pub use crate::measuring::profile;

/// Solve combinatorial games with SIMD and bit-parallel kernels, compare the kernels, and profile them
#[derive(Parser)]
#[command(name = "nimlanes", version, disable_help_flag = true, disable_help_subcommand = true)]
#[command(before_help = "Example: nimlanes compare mex_subtraction --size 100000", after_help = after_help())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the manual page, or a script that completes commands and options in a shell
    #[arg(long, value_name = "WHAT")]
    generate: Option<Generate>,
    /// Print help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

/// Environment variables and exit codes.
fn after_help() -> String {
    let tiers = Tier::here().map(Tier::name).collect::<Vec<_>>().join("|");
    let variables = [
        [format!("  {ISA_MAX}={tiers}"), "Use only this tier and those it includes, as on a weaker machine".to_owned()],
        [format!("  {KERNEL}=OPERATION=NAME,..."), "Kernels to use unless --kernel names others".to_owned()],
        [format!("  {SAMPLER}=perf|pprof"), "The sampler, unless --sampler names one".to_owned()],
    ];
    let codes = [
        ["  0", "Done"],
        ["  1", "Failed"],
        ["  2", "The command line is wrong, or a file that is read"],
        ["  128 + N", "Ended by signal N: 130 by Ctrl-C"],
    ];
    let (variables, codes) = (output::table(variables), output::table(codes));
    format!("Environment:\n{variables}\nExit codes:\n{codes}")
}

/// Parses the command line and runs the command. An error is one line on stderr.
pub fn main() -> ExitCode {
    interrupt::watch();
    let result = match Cli::try_parse() {
        Ok(cli) => dispatch(cli),
        Err(error) => explain(&error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Prints help and version; turns a usage error into one line.
fn explain(error: &clap::Error) -> Result<(), Failure> {
    if error.use_stderr() { Err(Failure::Usage(line(error))) } else { output::print(&error.render().to_string()) }
}

/// The message and the hints of an error, without the usage that follows, on one line as all others.
fn line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let mut message = String::new();
    // No value of this program begins with hyphens, as clap would have it passed.
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("tip: to pass ")) {
        let join = if message.is_empty() || message.ends_with(':') { " " } else { "; " };
        message = message + join + line;
    }
    let message = message.trim_start();
    message.strip_prefix("error: ").unwrap_or(message).to_owned()
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    match (cli.command, cli.generate) {
        (Some(_), Some(_)) => Err(Failure::Usage("--generate takes no command".to_owned())),
        (Some(command), None) => command.execute(),
        (None, Some(what)) => generate::main(what, Cli::command()),
        (None, None) => output::print(&Cli::command().render_help().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    /// Scripts for shells have the help of a value in quotes, as it is.
    #[test]
    fn the_help_of_a_value_has_nothing_that_a_shell_expands() {
        fn check(command: &Command) -> usize {
            let values = command.get_arguments().flat_map(|argument| argument.get_possible_values());
            let helps: Vec<String> = values.filter_map(|value| value.get_help().map(|help| help.to_string())).collect();
            for help in &helps {
                assert!(!help.contains(['"', '\'', '$', '`', '\\']), "{}: {help}", command.get_name());
            }
            helps.len() + command.get_subcommands().map(check).sum::<usize>()
        }
        assert!(check(&Cli::command()) > 5);
    }
}
