//! How long each benchmark may take, so that all of them together end in time.

use std::time::Duration;

use super::Mode;

/// What the benchmarks of all operations may take together; the rest of eight minutes is for games and ceilings.
const BUDGET: Duration = Duration::from_secs(370);

/// What criterion takes besides, for the statistics and charts of one benchmark.
const REPORT: Duration = Duration::from_millis(150);

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
        run + (self.warm_up() * 3 / 2).max(run) + self.measurement_of(run) + REPORT
    }

    /// Whether a kernel with this predicted time takes part.
    pub fn admits(&self, run: Duration) -> bool {
        run <= Duration::from_secs(3).mul_f64(self.scale)
    }

    /// Warm-up of a benchmark.
    pub fn warm_up(&self) -> Duration {
        Duration::from_millis(300).mul_f64(self.scale)
    }

    /// Measurement of a benchmark with short runs.
    pub fn measurement(&self) -> Duration {
        Duration::from_secs(1).mul_f64(self.scale)
    }

    /// Samples of a benchmark with short runs.
    pub fn samples(&self) -> usize {
        20
    }

    /// Samples where a run takes as long as this: down to ten, criterion's least.
    pub fn samples_of(&self, run: Duration) -> usize {
        let fit = self.measurement().as_secs_f64() / run.as_secs_f64();
        (fit as usize).clamp(10, self.samples())
    }

    /// Measurement where a run takes as long as this: at least one run a sample.
    pub fn measurement_of(&self, run: Duration) -> Duration {
        self.measurement().max(run * self.samples_of(run) as u32)
    }
}
