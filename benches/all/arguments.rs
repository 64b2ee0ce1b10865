//! The command line. Criterion reads it as well, but keeps to itself what a bench has to know before it computes anything.

use std::env;
use std::ffi::OsString;

use regex::Regex;

/// The purpose of this run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `cargo bench`.
    Measure,
    /// `cargo bench -- --profile-time <seconds>`.
    Profile,
    /// `cargo bench -- --list`.
    List,
    /// `cargo test --benches`: each benchmark once, with minimal times.
    Test,
}

/// The options of criterion 0.8 whose value is the next argument.
const WITH_VALUE: [&str; 20] = [
    "-b",
    "-c",
    "-s",
    "--baseline",
    "--baseline-lenient",
    "--color",
    "--colour",
    "--confidence-level",
    "--format",
    "--load-baseline",
    "--measurement-time",
    "--noise-threshold",
    "--nresamples",
    "--output-format",
    "--plotting-backend",
    "--profile-time",
    "--sample-size",
    "--save-baseline",
    "--significance-level",
    "--warm-up-time",
];

/// Which benchmarks are run.
#[derive(Debug)]
enum Filter {
    All,
    Matching(Regex),
    Named(String),
    None,
}

/// The arguments of this process.
#[derive(Debug)]
pub struct Arguments {
    /// Without values.
    options: Vec<String>,
    filter: Filter,
}

impl Arguments {
    /// The arguments, by criterion's rules.
    ///
    /// # Errors
    /// The filter is not a regular expression.
    pub fn of_this_process() -> Result<Self, String> {
        Arguments::parse(env::args_os().skip(1))
    }

    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        // Criterion refuses what is not UTF-8.
        let mut rest = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        let (mut options, mut first) = (Vec::new(), None);
        while let Some(argument) = rest.next() {
            if argument == "--" {
                first = first.or(rest.next());
                break;
            } else if !argument.starts_with('-') {
                first = first.or(Some(argument));
            } else {
                if WITH_VALUE.contains(&&*argument) {
                    rest.next();
                }
                let name = argument.split_once('=').map_or(&*argument, |(name, _)| name);
                options.push(name.to_owned());
            }
        }
        let mut arguments = Arguments { options, filter: Filter::All };
        arguments.filter = match first {
            _ if arguments.has("--ignored") => Filter::None,
            None => Filter::All,
            Some(name) if arguments.has("--exact") => Filter::Named(name),
            Some(text) => Filter::Matching(Regex::new(&text).map_err(|error| {
                let reason = error.to_string();
                format!("`{text}` is not a regular expression: {}", reason.lines().last().unwrap_or_default())
            })?),
        };
        Ok(arguments)
    }

    /// Whether an option is given.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given == option)
    }

    /// What is to be done, by criterion's rule.
    pub fn mode(&self) -> Mode {
        match self.has("--bench") && !self.has("--test") {
            _ if self.has("--list") => Mode::List,
            true if self.has("--profile-time") => Mode::Profile,
            true => Mode::Measure,
            false => Mode::Test,
        }
    }

    /// Whether only some benchmarks are run.
    pub fn has_filter(&self) -> bool {
        !matches!(self.filter, Filter::All)
    }

    /// Whether the benchmark of this id is run.
    pub fn picks(&self, id: &str) -> bool {
        match &self.filter {
            Filter::All => true,
            Filter::Matching(regex) => regex.is_match(id),
            Filter::Named(name) => name == id,
            Filter::None => false,
        }
    }
}
