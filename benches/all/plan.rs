//! The time of each benchmark. It follows from the benchmark alone: what else is run does not change how a kernel is sampled, so that
//! baselines stay comparable.

use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion};

use super::Instrument;
use super::arguments::{Arguments, Mode};

/// Overhead of criterion for the statistics and charts of one benchmark.
const REPORT: Duration = Duration::from_millis(150);

/// Samples of a benchmark with short runs, and the minimum that criterion allows.
const SAMPLES: (usize, usize) = (20, 10);

/// What runs, and for how long. At scale 1, a benchmark has 0.3 s of warm-up and 1 s of measurement. Kernels that need up to 3 s per
/// run take part, with ten runs; slower ones are left to `nimlanes compare`.
#[derive(Debug)]
pub struct Plan {
    /// The command line.
    pub arguments: Arguments,
    scale: f64,
}

impl Plan {
    /// The plan for a command line. All benchmarks together take six to eight minutes; a test has minimal times.
    pub fn new(arguments: Arguments) -> Self {
        let scale = if arguments.mode() == Mode::Test { 0.01 } else { 0.14 };
        Plan { arguments, scale }
    }

    /// How long benchmarks take, in words, given the predicted times of their runs.
    pub fn duration(&self, runs: impl Iterator<Item = Duration>) -> String {
        let own = ["--quick", "--load-baseline", "--measurement-time", "--sample-size", "--warm-up-time"];
        let seconds = runs.map(|run| self.benchmark_time(run)).sum::<Duration>().as_secs_f64();
        match seconds {
            _ if own.iter().any(|option| self.arguments.has(option)) => "for as long as the options say".to_owned(),
            ..100.0 => format!("about {seconds:.0} seconds"),
            _ => format!("about {:.0} minutes", seconds / 60.0),
        }
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
        if !self.arguments.has("--sample-size") {
            group.sample_size(samples);
        }
        if !self.arguments.has("--measurement-time") {
            group.measurement_time(time);
        }
    }
}
