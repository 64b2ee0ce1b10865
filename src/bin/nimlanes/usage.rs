//! Rewrites clap's errors into the one-line form of all others: what is wrong, then what is allowed.

use std::error::Error as _;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::Cli;

/// The message for an error.
pub fn line(error: &Error) -> String {
    let all = |kind| error.get(kind).map(words).unwrap_or_default();
    let one = |kind| all(kind).into_iter().next().unwrap_or_default();
    let (arg, value) = (one(ContextKind::InvalidArg), one(ContextKind::InvalidValue));
    let allowed = match all(ContextKind::ValidValue).join(", ") {
        names if names.is_empty() => String::new(),
        names => format!("allowed: {names}"),
    };
    let ending = |suggested: ContextKind, allowed: String| {
        let meant = all(suggested).into_iter().next_back().map(|name| format!("did you mean `{name}`?"));
        let ending = [meant, Some(allowed).filter(|names| !names.is_empty())].into_iter().flatten().collect::<Vec<_>>();
        if ending.is_empty() { "; see --help".to_owned() } else { format!("; {}", ending.join(" ")) }
    };
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("{} needs a value{}", name(&arg), ending(ContextKind::SuggestedValue, allowed))
        }
        ErrorKind::InvalidValue => {
            let wrong = match name(&arg) {
                option if option.starts_with('-') => format!("unknown value `{value}` of {option}"),
                what => format!("unknown {} `{value}`", what.to_lowercase()),
            };
            wrong + &ending(ContextKind::SuggestedValue, allowed)
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            format!("{} `{value}` is {why}", name(&arg))
        }
        ErrorKind::UnknownArgument if arg.starts_with('-') => {
            format!("unknown option `{arg}`{}", ending(ContextKind::SuggestedArg, String::new()))
        }
        ErrorKind::UnknownArgument => format!("unexpected argument `{arg}`; see --help"),
        ErrorKind::InvalidSubcommand => {
            let commands = Cli::command();
            let names: Vec<&str> = commands.get_subcommands().map(|command| command.get_name()).collect();
            let wrong = format!("unknown command `{}`", one(ContextKind::InvalidSubcommand));
            wrong + &ending(ContextKind::SuggestedSubcommand, format!("allowed: {}", names.join(", ")))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<String> = all(ContextKind::InvalidArg).iter().map(|arg| name(arg).to_owned()).collect();
            format!("missing: {}; see --help", missing.join(", "))
        }
        ErrorKind::ArgumentConflict => match name(&one(ContextKind::PriorArg)) {
            other if other == name(&arg) => format!("{other} is given twice; once is allowed"),
            other => format!("{} and {other} cannot be used together", name(&arg)),
        },
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("{}; see --help", first.strip_prefix("error: ").unwrap_or(first))
        }
    }
}

/// `--limit <N>` as `--limit`, `[GAME]` and `<GAME>` as `GAME`.
fn name(arg: &str) -> &str {
    arg.split(' ').next().unwrap_or(arg).trim_matches(['<', '>', '[', ']'])
}

fn words(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(word) => vec![word.clone()],
        ContextValue::Strings(words) => words.clone(),
        _ => Vec::new(),
    }
}
