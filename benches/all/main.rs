//! The benches: of the machine's ceilings, of the kernels of each core, and of complete games. This file has the
//! settings that they share.

mod ceilings;
mod cores;
mod games;
mod instrument;
mod plan;

use std::env;
use std::path::{Path, PathBuf};

use criterion::Criterion;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;

use self::instrument::Instrument;
use self::plan::Plan;

/// The purpose of this run of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// `cargo bench`.
    Measure,
    /// `cargo bench -- --profile-time <seconds>`.
    Profile,
    /// `cargo test --benches`: each benchmark once, with minimal times.
    Test,
}

impl Mode {
    /// The mode of this process, by the same rule as criterion.
    fn of_this_process() -> Self {
        match has_option("--bench") && !has_option("--test") {
            true if has_option("--profile-time") => Mode::Profile,
            true => Mode::Measure,
            false => Mode::Test,
        }
    }
}

/// Whether the command line has an option.
fn has_option(option: &str) -> bool {
    env::args().any(|arg| arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

/// What all benchmarks are run with.
struct Bench {
    selection: Selection,
    plan: Plan,
    instrument: Instrument,
    criterion: Criterion<Instrument>,
}

fn main() {
    let selection = Selection::new(Machine::from_env().unwrap_or_else(|error| panic!("{error}")));
    let plan = Plan::for_runs(&cores::predictions(&selection));
    let instrument = Instrument::default();
    let criterion = plan.configure(Criterion::default().with_measurement(instrument.clone()));
    #[cfg(feature = "cli")]
    let criterion = criterion.with_profiler(instrument::Flamegraphs::default());
    let mut bench = Bench { selection, plan, instrument, criterion: criterion.configure_from_args() };
    ceilings::run(&mut bench);
    cores::run(&mut bench);
    games::run(&mut bench);
    bench.criterion.final_summary();
    let report = results().join("report/index.html");
    if Mode::of_this_process() == Mode::Measure && report.exists() {
        println!("HTML report: {}", report.display());
    }
}

/// The folder that criterion writes to. Criterion has no function for it, so this repeats its rule.
fn results() -> PathBuf {
    let set = |variable: &str| env::var_os(variable).map(PathBuf::from);
    set("CRITERION_HOME").unwrap_or_else(|| {
        let target = set("CARGO_TARGET_DIR").unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
        target.join("criterion")
    })
}
