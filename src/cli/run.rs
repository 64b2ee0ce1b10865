//! `nimlanes run`

use std::time::{Duration, Instant};

use nimlanes::selection::span;

use super::args::{Chosen, Target, Threads, seconds};
use super::failure::Failure;
use super::interrupt;
use super::output::print;

/// Run one kernel in a bare loop, for a profiler to look at
#[derive(clap::Args)]
#[command(after_help = "Example: perf record -e cpu-clock -g nimlanes run table_scan --kernel bit_rows --seconds 5")]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The kernel
    #[arg(long, value_name = "NAME")]
    kernel: String,
    /// How long to repeat it; at least one run is made
    #[arg(long, value_name = "S", default_value = "3", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    #[command(flatten)]
    threads: Threads,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.threads.selection(Some(1))?;
    let chosen = args.target.choose(selection.machine())?;
    let kernel = chosen.kernel(&selection, Some(&args.kernel))?;
    let (runs, each) = repeat(&chosen, kernel, selection.threads(), args.seconds)?;
    print(&format!("{chosen} {}: {runs} runs, {} each\n", args.kernel, span(each)))
}

/// Runs a kernel for some seconds, at least once: how often, and nanoseconds of the wall for each.
pub fn repeat(chosen: &Chosen, kernel: usize, threads: usize, seconds: f64) -> Result<(u32, f64), Failure> {
    let run = interrupt::run(threads);
    let (start, budget) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut runs = 0u32;
    while runs == 0 || start.elapsed() < budget {
        chosen.session.spin(kernel, &run)?;
        runs += 1;
    }
    Ok((runs, start.elapsed().as_nanos() as f64 / f64::from(runs)))
}
