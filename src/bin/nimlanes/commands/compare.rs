//! `nimlanes compare`

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nimlanes::lab::duel::{Duel, DuelError, DuelOptions, MIN_ROUNDS, TIME_LIMIT, run_duel};
use nimlanes::lab::environment::Environment;
use nimlanes::lab::saved::{Change, Mismatch, Saved, SavedError, TIE, Verdict, check_writable};
use nimlanes::units::span;
use serde::Serialize;

use crate::args::{Target, Threads, duplicate, number, seconds};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Document, print, print_json, table};

/// Compare the speed of kernels on one input: check that their outputs agree, then time them in turns
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes compare mex_subtraction --size 100000\n  \
    nimlanes compare table_scan --size 5000 --threads 2 --kernels bit_rows,byte_table --json\n  \
    nimlanes compare mex_subtraction --save before.json\n  \
    nimlanes compare mex_subtraction --against before.json")]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Kernels to compare, separated by commas [default: all that can run]
    #[arg(long, value_name = "A,B,C")]
    kernels: Option<String>,
    /// The kernel that ratios refer to [default: the first within --time-limit]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// How long to measure, in seconds; there are at least three rounds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Skip kernels predicted to take longer than this for a run, in seconds
    #[arg(long, alias = "patience", value_name = "S", default_value_t = TIME_LIMIT.as_secs_f64(), value_parser = seconds, allow_negative_numbers = true)]
    time_limit: f64,
    #[command(flatten)]
    threads: Threads,
    /// Pin the process to this CPU, counted from 0
    #[arg(long, value_name = "CPU", value_parser = number, allow_negative_numbers = true)]
    pin: Option<u64>,
    /// Save the duel to a file, with date and environment. A file with several hard links is refused
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Report changes beyond the noise since the duel in this file
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// With --against: allow a duel from another machine or build
    #[arg(long, requires = "against")]
    mixed: bool,
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

impl From<SavedError> for Failure {
    fn from(error: SavedError) -> Self {
        Failure::Failed(error.to_string())
    }
}

impl From<Mismatch> for Failure {
    fn from(error: Mismatch) -> Self {
        Failure::Failed(error.to_string())
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    duel: &'a Duel,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a [Change]>,
}

impl Document for Outcome<'_> {
    const SCHEMA: &'static str = "nimlanes-duel-1";
}

impl From<DuelError> for Failure {
    fn from(error: DuelError) -> Self {
        match error {
            DuelError::Run(error) => error.into(),
            DuelError::OutputsDiffer { .. } | DuelError::WrongAnswer(_) => Failure::Failed(error.to_string()),
            _ => Failure::Usage(error.to_string()),
        }
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.threads.selection(Some(1))?;
    // Check all files before the duel, not after it.
    let before = args.against.as_deref().map(Saved::<Duel>::read).transpose()?;
    args.save.as_deref().map_or(Ok(()), check_writable)?;
    let environment = Environment::detect(selection.machine());
    if let Some(before) = before.as_ref().filter(|_| !args.mixed) {
        before.fits(&environment)?;
    }
    let kernels = match &args.kernels {
        None => Vec::new(),
        Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let session = args.target.session(&selection)?;
    if kernels.iter().any(String::is_empty) {
        let all = session.kernels().iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!("--kernels has an empty name; allowed: {all}")));
    }
    if let Some(name) = duplicate(&kernels) {
        return Err(Failure::Usage(format!("--kernels names {name} twice; once is allowed")));
    }
    if let Some(cpu) = args.pin {
        pin(cpu, selection.threads())?;
    }
    let options = DuelOptions {
        kernels,
        baseline: args.baseline.clone(),
        threads: selection.threads(),
        budget: Duration::from_secs_f64(args.seconds),
        time_limit: Duration::from_secs_f64(args.time_limit),
        always_included: Vec::new(),
    };
    let bar = progress(session.case().to_string());
    let run = interrupt::run(selection.threads());
    let mut watch = |share: f64| bar.set_position((share * 1000.0) as u64);
    let duel = run_duel(session.as_ref(), &options, &run, &mut watch);
    bar.finish_and_clear();
    let duel = Saved::now(environment, duel?);
    if let Some(path) = &args.save {
        duel.write(path)?;
    }
    let changes = before.map(|before| before.changes(&duel, args.mixed)).transpose()?;
    let duel = &duel.content;
    if args.json {
        return print_json(&Outcome { duel, changes: changes.as_deref() });
    }
    print(&text(duel))?;
    changes.map_or(Ok(()), |changes| print(&moved(&changes)))
}

/// Changes beyond the noise, one line per kernel, and all other kernels in one line per verdict.
fn moved(changes: &[Change]) -> String {
    let of = |verdict: Verdict| changes.iter().filter(move |change| change.verdict == verdict);
    let list = |verdict, title: &str| match of(verdict).map(|change| change.kernel.as_str()).collect::<Vec<_>>()[..] {
        [] => String::new(),
        ref kernels => format!("{title}: {}\n", kernels.join(", ")),
    };
    let line = |change: &Change| {
        let (before, after) = (change.before?, change.after?);
        let percent = 100.0 * (after / before - 1.0);
        Some(format!("{}: ratio {before:.2} became {after:.2} ({percent:+.1} %)\n", change.kernel))
    };
    let lines: String = [Verdict::Faster, Verdict::Slower].into_iter().flat_map(of).filter_map(line).collect();
    format!(
        "\nchanged beyond the noise (middle 80 % do not overlap, medians differ by more than {:.0} %): {}\n{lines}{}{}{}",
        100.0 * TIE,
        if lines.is_empty() { "nothing" } else { "" },
        list(Verdict::Same, "within the noise"),
        list(Verdict::Added, "new"),
        list(Verdict::Gone, "missing now"),
    )
}

/// A progress bar on stderr, if that is a terminal.
fn progress(what: String) -> ProgressBar {
    let target = if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(1000), target);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar
}

/// Pins this process to one CPU.
#[cfg(not(target_os = "linux"))]
fn pin(_: u64, _: usize) -> Result<(), Failure> {
    Err(Failure::Usage("--pin is only supported on Linux".to_owned()))
}

/// Pins this process to one CPU.
#[cfg(target_os = "linux")]
fn pin(cpu: u64, threads: usize) -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    if threads > 1 {
        return Err(Failure::Usage(format!("--pin needs --threads 1, not {threads}")));
    }
    let refused = |error: rustix::io::Errno| Failure::Failed(format!("--pin {cpu}: {error}"));
    let allowed = sched_getaffinity(None).map_err(refused)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    match usize::try_from(cpu).ok().filter(|cpu| cpus.contains(cpu)) {
        None => {
            let cpus = cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            Err(Failure::Usage(format!("--pin `{cpu}` is not a CPU of this process; allowed: {cpus}")))
        }
        Some(cpu) => {
            let mut set = CpuSet::new();
            set.set(cpu);
            sched_setaffinity(None, &set).map_err(refused)
        }
    }
}

/// Width of the longest bar in characters.
const BAR: f64 = 24.0;

/// The table, fastest first.
fn text(duel: &Duel) -> String {
    let clock = duel.rows.first().map_or("", |row| row.clock.as_str());
    let rounds = duel.rows.first().map_or(0, |row| row.rounds);
    let unit = duel.rows.first().map_or("", |row| row.unit.as_str());
    let mut rows = vec![
        ["kernel", "tier", "threads", "time", "ratio", "middle 80 %", &format!("ns/{unit}"), "log scale"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let range = duel.rows.iter().map(|row| row.ratio.ln());
    let (low, high) = range.fold((0f64, 0f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
    rows.extend(duel.rows.iter().map(|row| {
        let share = if high > low { (row.ratio.ln() - low) / (high - low) } else { 1.0 };
        vec![
            row.kernel.clone(),
            row.tier.clone(),
            row.threads.to_string(),
            span(row.median_seconds * 1e9),
            format!("{:.2}", row.ratio),
            format!("{:.2} .. {:.2}", row.ratio_low, row.ratio_high),
            format!("{:.3}", 1e9 / row.throughput),
            "#".repeat(1 + (share * BAR) as usize),
        ]
    }));
    let skipped = duel.skipped.iter().map(|skipped| format!("skipped {}: {}\n", skipped.kernel, skipped.reason));
    let few = if rounds <= MIN_ROUNDS { " (few: the range covers nearly all of them)" } else { "" };
    format!(
        "{}, {} build, {clock} clock, {rounds} rounds{few}\nratio = time of {} / time of the kernel; under 5 % is a tie\n\n{}{}",
        duel.case,
        duel.build,
        duel.baseline,
        table(&rows),
        skipped.collect::<String>(),
    )
}
