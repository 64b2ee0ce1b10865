//! The command line. Criterion reads it as well, but keeps to itself what a bench has to know before it computes anything.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};

use nimlanes::machine::variable;
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

/// The option of these benches beside those of criterion: all sizes and workloads.
const FULL: &str = "--full";

/// The variable that hands [`FULL`] to the process that criterion configures.
const IS_FULL: &str = "NIMLANES_BENCH_FULL";

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
    /// With their values.
    options: Vec<(String, Option<String>)>,
    filter: Filter,
    is_full: bool,
}

impl Arguments {
    /// The arguments, by criterion's rules.
    ///
    /// # Errors
    /// The filter is not a regular expression.
    pub fn of_this_process() -> Result<Self, String> {
        let arguments = Arguments::parse(env::args_os().skip(1))?;
        Ok(Arguments { is_full: variable(IS_FULL).is_some(), ..arguments })
    }

    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        // Criterion refuses what is not UTF-8.
        let mut rest = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        let (mut options, mut first) = (Vec::new(), None);
        while let Some(argument) = rest.next() {
            if argument == "--" {
                first = first.or(rest.next());
                break;
            } else if !argument.starts_with('-') {
                first = first.or(Some(argument));
            } else if WITH_VALUE.contains(&&*argument) {
                options.push((argument, rest.next()));
            } else {
                let (name, value) =
                    argument.split_once('=').map_or((&*argument, None), |(name, value)| (name, Some(value)));
                options.push((name.to_owned(), value.map(str::to_owned)));
            }
        }
        let mut arguments = Arguments { options, filter: Filter::All, is_full: false };
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
        self.options.iter().any(|(given, _)| given == option)
    }

    /// The value of the first of these options that is given.
    pub fn value(&self, options: &[&str]) -> Option<&str> {
        self.options.iter().find(|(given, _)| options.contains(&&**given))?.1.as_deref()
    }

    /// These options, as far as they are given, with their values.
    pub fn given(&self, options: &[&str]) -> impl Iterator<Item = &str> {
        let given = self.options.iter().filter(|(given, _)| options.contains(&&**given));
        given.flat_map(|(option, value)| [Some(&**option), value.as_deref()].into_iter().flatten())
    }

    /// Runs this program once more if the command line has an option that criterion refuses, and returns how that ended.
    pub fn run_without_own(&self) -> Option<io::Result<ExitCode>> {
        // With a value it is left to criterion, which refuses it.
        let is_given = self.options.iter().any(|(name, value)| name == FULL && value.is_none());
        is_given.then(|| {
            let mut again = Command::new(env::current_exe()?);
            again.args(env::args_os().skip(1).filter(|argument| argument != FULL)).env(IS_FULL, "1");
            // In its place, where there is such a call: it gets the signals.
            #[cfg(unix)]
            return Err(std::os::unix::process::CommandExt::exec(&mut again));
            #[cfg(not(unix))]
            again.status().map(|status| if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        })
    }

    /// Whether a run takes the published sizes and their neighbours alone.
    pub fn is_short(&self) -> bool {
        matches!(self.mode(), Mode::Measure | Mode::Profile) && !self.has_filter() && !self.is_full
    }

    /// The mode, by criterion's rule.
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
