//! `nimlanes --generate`

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};

use crate::terminal::failure::Failure;
use crate::terminal::output::print;

/// Values of an option before commands: the script would have files there.
const FISH: &str =
    "complete -c nimlanes -n __fish_use_subcommand -l generate -x -a 'man complete-bash complete-zsh complete-fish'\n";

/// Files of an installation beside the program.
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
    let shown = Command::new("nimlanes").disable_help_flag(true).disable_help_subcommand(true);
    shown.args(program.get_arguments()).subcommands(commands)
}

/// The manual page: the helps of the program and of its commands, as they are.
fn manual(program: &Command) -> String {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let section = |(title, command): (String, &Command)| {
        let help = command.clone().bin_name(&title).render_help().to_string();
        // A line that begins with one of these would be a request of roff, as a backslash would.
        let lines = help.replace('\\', "\\e").replace("\n.", "\n\\&.").replace("\n'", "\n\\&'");
        format!(".SH {}\n.nf\n{lines}\n.fi\n", title.to_uppercase())
    };
    let commands = commands.map(|command| (format!("nimlanes {}", command.get_name()), command));
    let sections: String = [("nimlanes".to_owned(), program)].into_iter().chain(commands).map(section).collect();
    let title = format!(".TH NIMLANES 1 \"\" \"nimlanes {}\"\n", env!("CARGO_PKG_VERSION"));
    title + ".SH NAME\nnimlanes \\- combinatorial games with SIMD and bit\\-parallel kernels\n" + &sections
}

/// Prints the manual page, or a script that completes commands and options in a shell.
pub fn main(what: Generate, program: Command) -> Result<(), Failure> {
    let shell = match what {
        Generate::Man => return print(&manual(&program)),
        Generate::CompleteBash => Shell::Bash,
        Generate::CompleteZsh => Shell::Zsh,
        Generate::CompleteFish => Shell::Fish,
    };
    let mut made = Vec::new();
    generate(shell, &mut shown(&program), "nimlanes", &mut made);
    if what == Generate::CompleteFish {
        made.extend(FISH.as_bytes());
    }
    print(&String::from_utf8_lossy(&made))
}
