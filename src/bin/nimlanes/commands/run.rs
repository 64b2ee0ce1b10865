//! `nimlanes run`

use std::time::{Duration, Instant};

use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::Session;
use nimlanes::lab::clock::Clock;
use nimlanes::machine::peak_memory;
use nimlanes::units::{bytes, span};
use serde::Serialize;

use super::arguments::repeated::{Opened, Repeat};
use crate::measuring::counters::{self, Counters, Source};
use crate::measuring::duel::{quantile, repeats};
use crate::terminal::failure::{Failure, remark};
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{Document, print, print_json};

/// Run one kernel in a bare loop, for use with a profiler; print the time of the first run and the memory
#[derive(clap::Args)]
#[command(before_help = "Example: nimlanes run table_scan --kernel bit_rows --counters")]
#[command(
    after_help = "With a profiler: perf record -e cpu-clock -g nimlanes run table_scan --kernel bit_rows --seconds 5"
)]
pub struct Args {
    #[command(flatten)]
    repeat: Repeat,
    /// The kernel
    #[arg(long, value_name = "NAME")]
    kernel: String,
    /// Also count instructions, cycles and misses: by the CPU (hardware), or instructions alone and exactly (steps)
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, require_equals = true, hide_possible_values = true)]
    counters: Option<Option<Source>>,
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

/// First and later runs of one kernel in its own process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColdStart {
    /// The kernel.
    pub kernel: String,
    /// Threads it was allowed to use.
    pub threads: usize,
    /// `thread` or `wall`.
    pub clock: String,
    /// Time of the first run, with cold caches and fresh pages.
    pub first_seconds: f64,
    /// Median time of the later runs; the time of the first if there was no other.
    pub later_seconds: f64,
    /// Total number of runs.
    pub runs: usize,
    /// Peak resident bytes of the process before the first run, including the input.
    pub idle_bytes: u64,
    /// Peak resident bytes of the process at the end.
    pub peak_bytes: u64,
}

/// The output of `--json`.
#[derive(Serialize)]
pub struct RunDocument<'a> {
    #[serde(flatten)]
    case: &'a Case,
    #[serde(flatten)]
    start: &'a ColdStart,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<&'a Counters>,
}

impl Document for RunDocument<'_> {
    const SCHEMA: &'static str = "nimlanes-run-2";
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let Opened { session, kernels, threads, .. } = args.repeat.open(&[Some(&args.kernel)])?;
    let kernel = kernels[0];
    let start = repeat(session.as_ref(), kernel, threads, args.repeat.seconds)?;
    let counters = match args.counters {
        Some(source) => counters::count(session.as_ref(), &[kernel], source, &interrupt::run(threads), &mut remark)?,
        None => None,
    };
    let case = session.case();
    if args.json {
        return print_json(&RunDocument { case, start: &start, counters: counters.as_ref() });
    }
    let ColdStart { first_seconds, later_seconds, runs, idle_bytes, peak_bytes, .. } = start;
    let memory = match peak_bytes {
        0 => String::new(),
        peak => format!(", peak memory {} ({} before it ran)", bytes(peak as f64), bytes(idle_bytes as f64)),
    };
    let (first, later) = (span(first_seconds * 1e9), span(later_seconds * 1e9));
    print(&format!("{case} {}: {runs} runs, the first {first}, then {later} each{memory}\n", args.kernel))?;
    counters.map_or(Ok(()), |counters| print(&counters.text()))
}

/// Runs a kernel repeatedly for some seconds, at least once.
pub fn repeat(session: &dyn Session, kernel: usize, threads: usize, seconds: f64) -> Result<ColdStart, Failure> {
    let run = interrupt::run(threads);
    let is_parallel = threads > 1 && session.kernels()[kernel].is_parallel();
    let clock = Clock::for_runs(is_parallel).for_one_run();
    let timed = |runs: u64| -> Result<Duration, Failure> {
        let start = clock.now();
        session.spin(kernel, &run, runs)?;
        Ok(clock.now() - start)
    };
    let what = format!("{} {}", session.case(), session.kernels()[kernel].name);
    let monitor = |runs: f64| Monitor::new(what.clone(), &run, (runs * session.steps() as f64) as u64);
    let idle_bytes = peak_memory();
    let (begin, budget) = (Instant::now(), Duration::from_secs_f64(seconds));
    let bar = monitor(1.0);
    let first = timed(1)?;
    drop(bar);
    let each_turn = repeats(first);
    let mut later = Vec::new();
    let left = budget.saturating_sub(begin.elapsed());
    let _bar = monitor((left.as_secs_f64() / first.as_secs_f64()).ceil());
    while begin.elapsed() < budget {
        later.push(timed(each_turn)?.as_secs_f64() / each_turn as f64);
    }
    Ok(ColdStart {
        kernel: session.kernels()[kernel].name.to_owned(),
        threads: if is_parallel { threads } else { 1 },
        clock: clock.name().to_owned(),
        first_seconds: first.as_secs_f64(),
        runs: 1 + later.len() * each_turn as usize,
        later_seconds: if later.is_empty() { first.as_secs_f64() } else { quantile(&mut later, 0.5) },
        idle_bytes,
        peak_bytes: peak_memory(),
    })
}
