//! The first pass: what each benchmark takes here, so that a run ends when it says. Predictions are those of another machine.

use std::cell::Cell;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use nimlanes::machine::variable;

use crate::plan::Plan;
use crate::{Instrument, folder};

/// A benchmark, or a run that is timed beside them, before it is run.
pub struct Task<'a> {
    pub id: String,
    /// Predicted time of a run.
    pub predicted: Duration,
    /// Whether it is one run, without criterion.
    pub is_one_run: bool,
    /// Times a run.
    pub time: Box<dyn Fn() -> Duration + 'a>,
}

/// How long `work` takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Runs that are predicted to be shorter do not change how long a benchmark takes.
const SHORT: Duration = Duration::from_micros(500);

/// The time for all runs of the pass: if they take longer, it is one of so many.
const PASS: Duration = Duration::from_secs(8);

/// How long all tasks are predicted to take.
pub fn predicted(tasks: &[Task], plan: &Plan) -> Duration {
    let time = |task: &Task| plan.benchmark_time(task.predicted, task.predicted) + Overhead::UNKNOWN.alone;
    tasks.iter().map(time).sum()
}

/// How long all tasks take, without what criterion does beside their runs.
pub fn time_of_runs(tasks: &[Task], plan: &Plan) -> Duration {
    // A single run would take as long here as there.
    let is_long = |task: &&Task| task.predicted > SHORT && !task.is_one_run;
    let sum: Duration = tasks.iter().filter(is_long).map(|task| task.predicted).sum();
    let one_of = sum.div_duration_f64(PASS).ceil().max(1.0) as usize;
    let mut long = 0..;
    let run = |task: &Task| {
        let is_timed = is_long(&task) && long.next().is_some_and(|index: usize| index.is_multiple_of(one_of));
        (task.predicted, is_timed.then(|| warm(task)))
    };
    let runs = extended(&tasks.iter().map(run).collect::<Vec<_>>());
    let of = |(task, run): (&Task, Duration)| {
        if task.is_one_run { run } else { plan.benchmark_time(task.predicted, run) }
    };
    tasks.iter().zip(runs).map(of).sum()
}

/// The time of a task's run, the second one if it is short: the first finds caches and pages cold.
fn warm(task: &Task) -> Duration {
    match (task.time)() {
        first if first > Duration::from_millis(50) => first,
        _ => (task.time)(),
    }
}

/// Times of runs, of which some are timed: the others are off their predictions as much as those together.
pub fn extended(times: &[(Duration, Option<Duration>)]) -> Vec<Duration> {
    let timed = || times.iter().filter_map(|(predicted, time)| Some((*predicted, (*time)?)));
    let sums = timed().fold((Duration::ZERO, Duration::ZERO), |(a, b), (predicted, time)| (a + predicted, b + time));
    let off = if sums.0.is_zero() { 1.0 } else { sums.1.div_duration_f64(sums.0) };
    times.iter().map(|(predicted, time)| time.unwrap_or(predicted.mul_f64(off))).collect()
}

/// The work of criterion beside the runs of a benchmark: statistics, charts and files.
#[derive(Clone, Copy, Debug)]
pub struct Overhead {
    /// Of a benchmark that has no baseline to be compared with.
    alone: Duration,
    compared: Duration,
}

/// The variable that makes this program measure [`Overhead`].
const OVERHEAD: &str = "NIMLANES_BENCH_OVERHEAD";

/// If this program was started for that, prints the overheads, in nanoseconds.
pub fn is_of_overhead(plan: &Plan) -> bool {
    let Some(folder) = variable(OVERHEAD) else { return false };
    for _ in ["alone", "compared"] {
        println!("\n{}", measured(plan, Path::new(&folder)).as_nanos());
    }
    true
}

/// The overhead of one of several benchmarks that take no time.
fn measured(plan: &Plan, folder: &Path) -> Duration {
    const KERNELS: u64 = 2;
    let sizes = [100u64, 10_000, 1_000_000];
    let start = Instant::now();
    let criterion = plan.configure(Criterion::default().with_measurement(Instrument::default()));
    let mut criterion = criterion.configure_from_args().output_directory(folder);
    let mut group = criterion.benchmark_group("overhead");
    group.sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_nanos(1));
    for kernel in 0..KERNELS {
        for size in sizes {
            plan.apply(&mut group, Duration::from_nanos(1));
            group.measurement_time(Duration::from_nanos(1)).throughput(Throughput::Elements(size));
            // Times that scatter.
            let turn = Cell::new(0);
            group.bench_function(BenchmarkId::new(format!("kernel_{kernel}"), size), |bencher| {
                turn.set(turn.get() + 1);
                bencher.iter_custom(|runs| Duration::from_nanos(runs * (1000 * (kernel + 1) + turn.get() * 7 % 13)));
            });
        }
    }
    group.finish();
    criterion.final_summary();
    start.elapsed() / (KERNELS as u32 * sizes.len() as u32)
}

impl Overhead {
    /// A guess, where there is no second process.
    pub const UNKNOWN: Self = Overhead { alone: Duration::from_millis(100), compared: Duration::from_millis(150) };

    /// The overhead with the options of this run that change it. A process of its own measures it, as criterion prints.
    pub fn of(plan: &Plan) -> Option<Self> {
        let home = env::temp_dir().join(format!("nimlanes-bench-{}", process::id()));
        let mut command = Command::new(env::current_exe().ok()?);
        command.args(["--bench", "--quiet"]).args(plan.arguments.given(&[
            "-n",
            "--noplot",
            "--nresamples",
            "--plotting-backend",
        ]));
        let output = command.env(OVERHEAD, &home).env_remove("CARGO_CRITERION_PORT").output();
        let _ = fs::remove_dir_all(&home);
        let text = String::from_utf8(output.ok()?.stdout).ok()?;
        let mut times = text.lines().filter_map(|line| line.parse().ok()).map(Duration::from_nanos);
        Some(Overhead { alone: times.next()?, compared: times.next()? })
    }

    /// The overheads of these benchmarks, with results and their baselines in this folder.
    pub fn sum<'a>(self, ids: impl Iterator<Item = &'a str>, results: &Path, baseline: &str) -> Duration {
        ids.map(|id| if results.join(folder(id)).join(baseline).exists() { self.compared } else { self.alone }).sum()
    }
}
