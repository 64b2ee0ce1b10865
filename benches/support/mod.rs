//! Code shared by the benches: settings, clock and profile of each benchmark, and the driver that fills the groups of a core
//! from the registry.
#![allow(dead_code, reason = "compiled into each bench file, and each uses a part of it")]

mod instrument;
mod plan;
pub mod registry;

use std::env;
use std::path::{Path, PathBuf};

use criterion::Criterion;
use nimlanes::machine::Machine;
use nimlanes::selection::Selection;

pub use self::instrument::Instrument;
pub use self::plan::Plan;

/// What a bench file is run for.
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

/// Runs the benchmarks of one bench file.
pub fn run(benchmarks: impl FnOnce(&Selection, &Plan, &mut Criterion<Instrument>, &Instrument)) {
    let selection = Selection::new(Machine::from_env().unwrap_or_else(|error| panic!("{error}")));
    let plan = Plan::for_runs(&registry::predictions(&selection));
    let instrument = Instrument::default();
    let criterion = plan.configure(Criterion::default().with_measurement(instrument.clone()));
    #[cfg(feature = "cli")]
    let criterion = criterion.with_profiler(instrument::Flamegraphs::default());
    let mut criterion = criterion.configure_from_args();
    benchmarks(&selection, &plan, &mut criterion, &instrument);
    criterion.final_summary();
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
