//! How long each benchmark may take, so that all of them together end in time.

use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion};

use super::{Instrument, Mode, given};

/// What the benchmarks of all operations may take together; the rest of eight minutes is for games and ceilings.
const BUDGET: Duration = Duration::from_secs(370);

/// What criterion takes besides, for the statistics and charts of one benchmark.
const REPORT: Duration = Duration::from_millis(150);

/// Samples of a benchmark with short runs, and the fewest that criterion makes.
const SAMPLES: (usize, usize) = (20, 10);

/// The times of all benchmarks, scaled together by one number. At scale 1 a benchmark is warmed up for 0.3 s and measured
/// for 1 s, and kernels of up to 3 s a run take part, with ten runs; slower ones are left to the duel.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    scale: f64,
}

impl Plan {
    /// The longest times that fit the budget, given the predicted time of a run of each benchmark; the shortest in a test.
    pub fn for_runs(runs: &[Duration]) -> Self {
        let fits = |plan: &Plan| Mode::of_this_process() != Mode::Test && plan.total(runs) <= BUDGET;
        let plan = |percent: i32| Plan { scale: f64::from(percent) / 100.0 };
        (2..=100).rev().map(plan).find(fits).unwrap_or(plan(1))
    }

    fn total(&self, runs: &[Duration]) -> Duration {
        runs.iter().filter(|run| self.admits(**run)).map(|run| self.one(*run)).sum()
    }

    /// One benchmark: the check of the answer, the warm-up (criterion doubles the runs until its time is over), the samples.
    fn one(&self, run: Duration) -> Duration {
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

    /// Samples where a run takes so long, and the time for them: at least one run each.
    fn samples(&self, run: Duration) -> (usize, Duration) {
        let time = Duration::from_secs(1).mul_f64(self.scale);
        let (most, least) = SAMPLES;
        let samples = ((time.as_secs_f64() / run.as_secs_f64()) as usize).clamp(least, most);
        (samples, time.max(run * samples as u32))
    }

    /// Settings that are the same for all benchmarks.
    pub fn configure(&self, criterion: Criterion<Instrument>) -> Criterion<Instrument> {
        // Criterion's own 100 000 resamples take longer than the measurement.
        criterion.nresamples(10_000).warm_up_time(self.warm_up())
    }

    /// Settings for benchmarks that run so long, where the command line has no others.
    pub fn apply(&self, group: &mut BenchmarkGroup<Instrument>, run: Duration) {
        let (samples, time) = self.samples(run);
        if !given("--sample-size") {
            group.sample_size(samples);
        }
        if !given("--measurement-time") {
            group.measurement_time(time);
        }
    }
}
