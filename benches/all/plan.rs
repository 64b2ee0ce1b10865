//! The time of each benchmark, so that all of them together stay within a budget.

use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion};

use super::{Instrument, Mode, has_option};

/// Total time of the benchmarks of all operations; the rest of eight minutes is for games and ceilings.
const BUDGET: Duration = Duration::from_secs(370);

/// Overhead of criterion for the statistics and charts of one benchmark.
const REPORT: Duration = Duration::from_millis(150);

/// Samples of a benchmark with short runs, and the minimum that criterion allows.
const SAMPLES: (usize, usize) = (20, 10);

/// The times of all benchmarks, scaled by one factor. At scale 1, a benchmark has 0.3 s of warm-up and 1 s of measurement.
/// Kernels that need up to 3 s per run take part, with ten runs; slower ones are left to `nimlanes compare`.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    scale: f64,
}

impl Plan {
    /// The longest times that fit the budget, given the predicted time of a run of each benchmark; the shortest times in a
    /// test.
    pub fn for_runs(runs: &[Duration]) -> Self {
        let fits = |plan: &Plan| Mode::of_this_process() != Mode::Test && plan.total(runs) <= BUDGET;
        let plan = |percent: i32| Plan { scale: f64::from(percent) / 100.0 };
        (2..=100).rev().map(plan).find(fits).unwrap_or(plan(1))
    }

    fn total(&self, runs: &[Duration]) -> Duration {
        runs.iter().filter(|run| self.admits(**run)).map(|run| self.benchmark_time(*run)).sum()
    }

    /// Duration of one benchmark: the check of the answer, the warm-up (criterion doubles the runs until its time is over) and
    /// the samples.
    fn benchmark_time(&self, run: Duration) -> Duration {
        let (_, measurement) = self.samples(run);
        run + (self.warm_up() * 3 / 2).max(run) + measurement + REPORT
    }

    /// Whether a kernel with this predicted time takes part.
    pub fn admits(&self, run: Duration) -> bool {
        run <= Duration::from_secs(3).mul_f64(self.scale)
    }

    fn warm_up(&self) -> Duration {
        Duration::from_millis(300).mul_f64(self.scale)
    }

    /// Number of samples for runs of this duration, and the time for all samples: each has at least one run.
    fn samples(&self, run: Duration) -> (usize, Duration) {
        let time = Duration::from_secs(1).mul_f64(self.scale);
        let (most, least) = SAMPLES;
        let samples = ((time.as_secs_f64() / run.as_secs_f64()) as usize).clamp(least, most);
        (samples, time.max(run * samples as u32))
    }

    /// Applies the settings that are the same for all benchmarks.
    pub fn configure(&self, criterion: Criterion<Instrument>) -> Criterion<Instrument> {
        // Criterion's own 100 000 resamples take longer than the measurement.
        criterion.nresamples(10_000).warm_up_time(self.warm_up())
    }

    /// Applies the settings for runs of this duration, unless the command line overrides them.
    pub fn apply(&self, group: &mut BenchmarkGroup<Instrument>, run: Duration) {
        let (samples, time) = self.samples(run);
        if !has_option("--sample-size") {
            group.sample_size(samples);
        }
        if !has_option("--measurement-time") {
            group.measurement_time(time);
        }
    }
}
