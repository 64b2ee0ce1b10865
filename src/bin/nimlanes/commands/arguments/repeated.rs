//! The input of the commands that repeat a kernel: one that the kernel is predicted to finish in time.

use std::time::Duration;

use nimlanes::kernel::selection::{Selection, largest};
use nimlanes::kernel::session::Session;
use nimlanes::units::span;

use super::{Target, kernel};
use crate::terminal::failure::{Failure, remark};

/// The predicted time of a run at the default size is at most this.
const SHORT: Duration = Duration::from_secs(2);

/// A run that is predicted to take longer at the size that was asked for is refused unless it is forced.
const LONG: Duration = Duration::from_secs(60);

/// A session, and the kernels to run in it.
pub struct Opened {
    pub session: Box<dyn Session>,
    /// In the order in which they were named.
    pub kernels: Vec<usize>,
    /// The name of the slowest, and the predicted nanoseconds of a run.
    slowest: (&'static str, f64),
}

impl Opened {
    fn is_within(&self, limit: Duration) -> bool {
        self.slowest.1 <= limit.as_nanos() as f64
    }

    fn prediction(&self) -> String {
        let (name, ns) = self.slowest;
        format!("{name} is predicted to take {} a run", span(ns))
    }
}

impl Target {
    /// Opens a session for the kernels of these names; `None` is the one that `selection` chooses. Says on stderr how long the
    /// slowest of them is predicted to take, and why the size is not the published one.
    pub fn open(&self, selection: &Selection, names: &[Option<&str>], force: bool) -> Result<Opened, Failure> {
        let selection = selection.clone().allow_long(); // what is long is decided here
        let attempt = |size| self.attempt(size, &selection, names);
        let given = self.size;
        let size = given.map_or_else(|| self.published(), Ok)?;
        let limit = if given.is_some() { LONG } else { SHORT };
        let asked = attempt(size);
        let which = if given.is_some() { "" } else { ", the published one" };
        if let Ok(opened) = &asked
            && (force || opened.is_within(limit))
        {
            remark(&format!("size {size}{which}: {}", opened.prediction()));
            return asked;
        }
        let fitting = |size| attempt(size).ok().filter(|opened| opened.is_within(limit));
        let fits = || {
            let size = largest(size, |size| fitting(size).is_some());
            fitting(size).filter(|_| size > 0).map(|opened| (size, opened))
        };
        match (given, asked) {
            (None, asked) => {
                let why = match &asked {
                    Ok(opened) => opened.prediction(),
                    Err(Failure::Usage(line)) => line.clone(),
                    Err(_) => return asked,
                };
                let Some((less, opened)) = fits() else { return asked };
                let limit = span(SHORT.as_nanos() as f64);
                remark(&format!("size {less}, the largest within {limit} a run: at {size}{which}, {why}"));
                Ok(opened)
            }
            (Some(_), Ok(opened)) => {
                let hint = fits().map_or_else(String::new, |(less, _)| format!("; {less} would fit"));
                let why = opened.prediction();
                Err(Failure::Usage(format!("size {size}: {why}, more than a minute{hint}; --force allows it")))
            }
            (Some(_), Err(failure)) => Err(failure),
        }
    }

    fn attempt(&self, size: u64, selection: &Selection, names: &[Option<&str>]) -> Result<Opened, Failure> {
        let session = self.session_at(size, selection)?;
        let find = |name: &Option<&str>| kernel(session.as_ref(), selection, *name);
        let kernels = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let costs = kernels.iter().map(|kernel| session.cost(*kernel, selection.threads()).ns);
        let (ns, slowest) = costs.zip(&kernels).max_by(|a, b| a.0.total_cmp(&b.0)).expect("a kernel is named");
        let slowest = (session.kernels()[*slowest].name, ns);
        Ok(Opened { session, kernels, slowest })
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Args, Command, FromArgMatches};
    use nimlanes::kernel::selection::Selection;
    use nimlanes::machine::Machine;
    use nimlanes::machine::isa::Tier;

    use super::{LONG, Opened, SHORT, Target};
    use crate::terminal::failure::Failure;

    fn open(line: &str, kernels: &[&str]) -> Result<Opened, Failure> {
        let force = Arg::new("force").long("force").action(ArgAction::SetTrue);
        let command = Target::augment_args(Command::new("test")).no_binary_name(true).arg(force);
        let matches = command.try_get_matches_from(line.split_whitespace()).expect("valid arguments");
        let target = Target::from_arg_matches(&matches).expect("all of them");
        let selection = Selection::new(Machine::described(Tier::Portable, 1, 1 << 40));
        let kernels: Vec<_> = kernels.iter().map(|name| Some(*name)).collect();
        target.open(&selection, &kernels, matches.get_flag("force"))
    }

    fn size(line: &str, kernels: &[&str]) -> u64 {
        open(line, kernels).expect("it is not refused").session.case().size
    }

    #[test]
    fn the_default_is_the_published_size_or_the_largest_within_two_seconds() {
        assert_eq!(size("table_scan", &["byte_table"]), 1000);
        let less = size("occupancy", &["bit_rows"]);
        assert!(less < 10_000_000);
        let at = |size| open(&format!("occupancy --size {size}"), &["bit_rows"]).expect("it takes seconds");
        assert!(at(less).is_within(SHORT) && !at(less + less / 10).is_within(SHORT), "{less}");
        assert_eq!(size("occupancy --force", &["bit_rows"]), 10_000_000);
        assert_eq!(size("occupancy", &["automaton"]), 10_000_000);
        assert_eq!(size("occupancy", &["automaton", "bit_rows"]), less, "the slower one decides");
        assert_eq!(size("occupancy", &["bit_rows", "automaton"]), less, "the slower one decides");
    }

    #[test]
    fn more_than_a_minute_must_be_forced() {
        let Err(Failure::Usage(line)) = open("table_scan --size 20000", &["bit_rows", "byte_table"]) else {
            panic!("byte_table takes more than a minute")
        };
        let words: Vec<&str> = line.split([' ', ';']).collect();
        let fits: u64 =
            words[words.iter().position(|word| *word == "would").expect("a size") - 1].parse().expect("a size");
        let at = |size| open(&format!("table_scan --size {size}"), &["byte_table"]);
        assert!(at(fits).expect("it fits").is_within(LONG) && at(fits + fits / 10).is_err(), "{line}");
        assert_eq!(size("table_scan --size 20000 --force", &["byte_table"]), 20_000);
    }

    #[test]
    fn what_has_no_size_that_fits_is_refused_as_it_is() {
        let Err(Failure::Usage(line)) = open("table_scan", &["none"]) else { panic!("there is no such kernel") };
        assert!(line.starts_with("unknown kernel `none`"), "{line}");
    }
}
