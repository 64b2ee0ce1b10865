//! `nimlanes run`

use std::time::{Duration, Instant};

use nimlanes::selection::span;

use super::args::{Target, Threads, seconds};
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
    let selection = selection.with_kernel(&format!("{}={}", chosen.operation.name(), args.kernel))?;
    chosen.session.selected(&selection)?;
    let kernel = chosen.session.kernels().iter().position(|name| *name == args.kernel).expect("with_kernel found it");
    let run = interrupt::run(selection.threads());
    let (start, budget) = (Instant::now(), Duration::from_secs_f64(args.seconds));
    let mut runs = 0u32;
    while runs == 0 || start.elapsed() < budget {
        chosen.session.spin(kernel, &run)?;
        runs += 1;
    }
    let each = start.elapsed().as_nanos() as f64 / f64::from(runs);
    print(&format!("{chosen} {}: {runs} runs, {} each\n", args.kernel, span(each)))
}
