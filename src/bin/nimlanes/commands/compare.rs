//! `nimlanes compare`

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::environment::Environment;
use nimlanes::numbers::within;
use serde::Serialize;

use super::arguments::{Target, Threads, duplicate, seconds};
use crate::files;
use crate::files::saved::{Saved, write_json};
use crate::measuring::builds::{self, Build};
use crate::measuring::counters::{self, Counters, Source};
use crate::measuring::duel::{Comparison, DuelError, DuelOptions, Match, PROCESSES, TIME_LIMIT, run_duel};
use crate::measuring::programs::HAS_PROCESSES;
use crate::terminal::failure::{Failure, remark};
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{Document, check_writable, print, print_json};

/// Compare the speed of kernels on one input: check that their outputs agree, then time them in turns, in several processes
#[derive(clap::Args)]
#[command(before_help = "Example: nimlanes compare mex_subtraction --size 100000")]
#[command(
    after_help = "Builds: native, for this CPU; rev:REVISION and toolchain:NAME, of the repository around the working directory; \
    the path of a program, which runs in Node if it ends in .wasm; this, once more.\n\n\
    More examples:\n  nimlanes compare table_scan --size 5000 --threads 2 --kernels bit_rows,byte_table --json\n  \
    nimlanes compare mex_subtraction --counters --save before.json\n  \
    nimlanes compare mex_subtraction --builds rev:HEAD~1 --kernels flags,stamp\n  \
    nimlanes compare mex_subtraction --builds native,../before/target/release/nimlanes --until 1%\n  \
    nimlanes compare mex_split --builds toolchain:1.89,toolchain:nightly"
)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Kernels to compare [default: all that can run]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    kernels: Vec<String>,
    /// The kernel that ratios refer to [default: the first within --time-limit]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Other builds whose kernels of the same names take turns with these
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    builds: Vec<Build>,
    /// How long to measure, in seconds; there are at least three rounds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// End before that when each ratio is known to within this share of it, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    until: Option<f64>,
    /// Processes, each with another layout in memory, to spread the rounds over
    #[arg(long, value_name = "N", default_value_t = PROCESSES as u64, value_parser = within(1..=MAX_PROCESSES), allow_negative_numbers = true)]
    processes: u64,
    /// Skip kernels predicted to take more seconds for a run
    #[arg(long, value_name = "S", default_value_t = TIME_LIMIT.as_secs_f64(), value_parser = seconds, allow_negative_numbers = true)]
    time_limit: f64,
    #[command(flatten)]
    threads: Threads,
    /// Save the duel, with date and environment
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Also count instructions, cycles and misses: by the CPU (hardware), or instructions alone and exactly (steps)
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, require_equals = true, hide_possible_values = true, conflicts_with = "builds")]
    counters: Option<Option<Source>>,
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

/// Parses a share in percent.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.1..=50.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("not a share from 0.1% to 50%".to_owned()),
    }
}

/// More processes would add no information.
const MAX_PROCESSES: u64 = 200;

/// The output of `--json`.
#[derive(Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<Counters>,
}

impl Document for Compared<'_> {
    const SCHEMA: &'static str = "nimlanes-duel-2";
}

impl From<DuelError> for Failure {
    fn from(error: DuelError) -> Self {
        match error {
            DuelError::Run(error) => error.into(),
            DuelError::OutputsDiffer { .. } | DuelError::WrongAnswer(_) | DuelError::Player(_) => {
                Failure::Failed(error.to_string())
            }
            _ => Failure::Usage(error.to_string()),
        }
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    if args.save.as_deref().is_some_and(files::is_stdout) {
        let why = "--save names standard output, where the duel is printed; allowed: a file, or --json instead";
        return Err(Failure::Usage(why.to_owned()));
    }
    let selection = args.threads.selection(Some(1))?;
    // Before the duel, not after it.
    check_writable(args.save.as_deref())?;
    let environment = Environment::detect(selection.machine());
    let run = interrupt::run(selection.threads());
    let duel = Saved::now(environment, args.play(&selection, &run)?);
    if let Some(path) = &args.save {
        write_json(path, &duel)?;
    }
    let comparison = &duel.content;
    if args.json {
        return print_json(&Compared { comparison, counters: args.count(comparison, &selection, &run)? });
    }
    print(&comparison.text())?;
    let counters = args.count(comparison, &selection, &run)?;
    counters.map_or(Ok(()), |counters| print(&counters.text()))
}

impl Args {
    /// The participants, and the time.
    fn options(&self, threads: usize) -> Result<DuelOptions, Failure> {
        if let Some(name) = duplicate(&self.kernels) {
            return Err(Failure::Usage(format!("--kernels names {name} twice; once is allowed")));
        }
        if let Some(build) = duplicate(&self.builds) {
            return Err(Failure::Usage(format!("--builds names {build} twice; once is allowed")));
        }
        Ok(DuelOptions {
            kernels: self.kernels.clone(),
            baseline: self.baseline.clone(),
            threads,
            budget: Duration::from_secs_f64(self.seconds),
            time_limit: Duration::from_secs_f64(self.time_limit),
            always_included: Vec::new(),
        })
    }

    /// Plays the duel.
    fn play(&self, selection: &Selection, run: &Run) -> Result<Comparison, Failure> {
        let options = self.options(selection.threads())?;
        let open = || self.target.session(selection);
        if !HAS_PROCESSES {
            if !self.builds.is_empty() || self.until.is_some() || self.counters.is_some() {
                let what = "this system has no other processes: --builds, --until and --counters need them";
                return Err(Failure::Usage(what.to_owned()));
            }
            remark("this system has no other processes: all rounds are in this one, and have its layout in memory");
            let duel = run_duel(open()?.as_ref(), &options, run, &mut |_| {})?;
            return Ok(Comparison { duel, builds: Vec::new() });
        }
        let duel = Match::new(open, &options, self.processes as usize, selection.machine(), run)?;
        let others = builds::programs(&self.builds, run)?;
        let (_bar, mut watch) = Monitor::of_share(duel.case().to_string());
        Ok(duel.play(&others, self.until, &mut watch)?)
    }

    /// Counts what the kernels do, if that is wanted.
    fn count(&self, comparison: &Comparison, selection: &Selection, run: &Run) -> Result<Option<Counters>, Failure> {
        let Some(source) = self.counters else { return Ok(None) };
        let session = self.target.session(selection)?;
        let kernels: Vec<usize> = comparison.duel.rows.iter().filter_map(|row| session.index(&row.kernel)).collect();
        Ok(counters::count(session.as_ref(), &kernels, source, run, &mut remark)?)
    }
}
