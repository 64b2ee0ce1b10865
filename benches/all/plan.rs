//! The benchmarks that run, and for how long. The time of a benchmark follows from the benchmark alone: what else is run does not change how a kernel is
//! sampled, so that baselines stay comparable.

use std::iter;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion};
use nimlanes::kernel::workload::Workload;

use super::Instrument;
use super::arguments::{Arguments, Mode};

/// The warm-up of a benchmark, and the time of all its samples together if a run is short.
const WARM_UP: Duration = Duration::from_millis(42);
const SAMPLING: Duration = Duration::from_millis(140);

/// Samples of a benchmark with short runs, and the minimum that criterion allows.
const SAMPLES: (usize, usize) = (20, 10);

/// Kernels whose samples are predicted to take longer take no part: ten runs each.
const LONGEST: Duration = Duration::from_secs(5);

/// The benchmarks that run, and for how long.
#[derive(Debug)]
pub struct Plan {
    /// The command line.
    pub arguments: Arguments,
    warm_up: Duration,
    sampling: Duration,
    longest: Duration,
}

impl Plan {
    /// The plan for a command line. A test has minimal times.
    pub fn new(arguments: Arguments) -> Self {
        let share = if arguments.mode() == Mode::Test { 16 } else { 1 };
        let [warm_up, sampling, longest] = [WARM_UP, SAMPLING, LONGEST].map(|time| time / share);
        Plan { arguments, warm_up, sampling, longest }
    }

    /// The sizes at which this run times the kernels of a workload: all of them, or those of the [short](Arguments::is_short) run.
    pub fn sizes(&self, workload: &Workload) -> &'static [u64] {
        if self.arguments.is_short() { around(workload.sizes, workload.published) } else { workload.sizes }
    }

    /// Whether kernels are timed: criterion may load what it has timed before.
    pub fn measures(&self) -> bool {
        self.arguments.mode() == Mode::Measure && !self.arguments.has("--load-baseline")
    }

    /// Whether the options of criterion, not this plan, say how long benchmarks take.
    pub fn is_overridden(&self) -> bool {
        let own = ["--quick", "--load-baseline", "--measurement-time", "--sample-size", "--warm-up-time"];
        own.iter().any(|option| self.arguments.has(option))
    }

    /// Duration of one benchmark, given the predicted time of a run and the true one: the check of the answer, the warm-up and the
    /// samples, as criterion takes them.
    pub fn benchmark_time(&self, predicted: Duration, run: Duration) -> Duration {
        let run = run.max(Duration::from_nanos(1));
        // The runs are doubled until the time is over.
        let mut warm_up = iter::successors(Some(run), |sum| Some(2 * *sum + run));
        let warm_up = warm_up.find(|sum| *sum > self.warm_up).expect("a sum beyond every bound");
        let (samples, time) = self.samples(predicted);
        let runs = (time.as_secs_f64() / samples as f64 / run.as_secs_f64()).ceil().max(1.0);
        run + warm_up + run.mul_f64(runs * samples as f64)
    }

    /// The first lines of a run: the number of benchmarks and their time, if it is known.
    pub fn announcement(&self, count: usize, time: Option<Duration>) -> String {
        let count = if count == 1 { "1 benchmark".to_owned() } else { format!("{count} benchmarks") };
        let time = time.map_or_else(|| "for as long as the options say".to_owned(), about);
        let more = "`cargo bench -- mex_zeros` takes all whose name has that, at all sizes; `--list` lists the names";
        match () {
            () if self.arguments.has_filter() => format!("{count}, {time}.\n"),
            () if self.arguments.is_short() => format!(
                "{count}, {time}: what this machine can do at best, every kernel at the published size and two more, whole games.\n\
                 {more}.\n`cargo bench -- --full` takes all sizes and workloads.\n"
            ),
            () => format!(
                "{count}, {time}: what this machine can do at best, every kernel on all inputs, whole games.\n{more}.\n"
            ),
        }
    }

    /// Whether a kernel with this predicted time takes part.
    pub fn admits(&self, run: Duration) -> bool {
        run.saturating_mul(SAMPLES.1 as u32) <= self.longest
    }

    /// Number of samples for runs of this duration, and the time for all samples: each has at least one run.
    fn samples(&self, run: Duration) -> (usize, Duration) {
        let (most, least) = SAMPLES;
        let samples = (self.sampling.div_duration_f64(run) as usize).clamp(least, most);
        (samples, self.sampling.max(run * samples as u32))
    }

    /// Applies the settings that are the same for all benchmarks.
    pub fn configure(&self, criterion: Criterion<Instrument>) -> Criterion<Instrument> {
        // Criterion's own 100 000 resamples, and the charts of their densities, take longer than the measurement.
        criterion.nresamples(2000).warm_up_time(self.warm_up)
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

/// A time in words, to the second, or to five seconds if it is over a minute.
pub fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let fives = (seconds / 5.0).round() as u64 * 5;
    match seconds {
        ..5.0 => "a few seconds".to_owned(),
        ..57.5 => format!("about {seconds:.0} seconds"),
        _ => format!("about {} min {:02} s", fives / 60, fives % 60),
    }
}

/// A size among ascending ones, and its neighbours: three in all, if there are so many.
pub fn around(sizes: &[u64], size: u64) -> &[u64] {
    let first = sizes.partition_point(|other| *other < size).saturating_sub(1).min(sizes.len().saturating_sub(3));
    &sizes[first..sizes.len().min(first + 3)]
}
