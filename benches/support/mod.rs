//! What the benches share: settings, the clock and the profile of each benchmark, and the driver that fills the groups of a
//! core from the registry.
#![allow(dead_code, reason = "compiled into each bench file, and each uses its part")]

mod instrument;
mod plan;
mod registry;

use std::path::{Path, PathBuf};

use criterion::Criterion;

pub use self::instrument::Instrument;
pub use self::plan::Plan;
pub use self::registry::core;

/// What a bench file is run for, as far as the benches must know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// `cargo bench`.
    Measure,
    /// `cargo bench -- --profile-time <seconds>`.
    Profile,
    /// `cargo test --benches`: each benchmark once, and quickly.
    Test,
}

impl Mode {
    /// The mode of this process, by criterion's rule.
    fn of_this_process() -> Self {
        let given = |name: &str| std::env::args().any(|arg| arg == name);
        match given("--bench") && !given("--test") {
            true if given("--profile-time") => Mode::Profile,
            true => Mode::Measure,
            false => Mode::Test,
        }
    }
}

/// Runs the benchmarks of one bench file. Options on the command line go before the plan.
pub fn run(plan: &Plan, benchmarks: impl FnOnce(&mut Criterion<Instrument>, &Instrument)) {
    let instrument = Instrument::default();
    let criterion = Criterion::default()
        .with_measurement(instrument.clone())
        .nresamples(10_000) // criterion's own 100 000 take longer than the measurement
        .warm_up_time(plan.warm_up())
        .measurement_time(plan.measurement())
        .sample_size(plan.samples());
    #[cfg(feature = "cli")]
    let criterion = criterion.with_profiler(instrument::Flamegraphs::default());
    let mut criterion = criterion.configure_from_args();
    benchmarks(&mut criterion, &instrument);
    criterion.final_summary();
    let report = results().join("report/index.html");
    if Mode::of_this_process() == Mode::Measure && report.exists() {
        println!("HTML report: {}", report.display());
    }
}

/// The folder that criterion writes to; it finds it in the same way and does not tell.
fn results() -> PathBuf {
    let set = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    set("CRITERION_HOME").unwrap_or_else(|| {
        let target = set("CARGO_TARGET_DIR").unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
        target.join("criterion")
    })
}
