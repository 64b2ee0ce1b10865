//! The benches: of the machine's ceilings, of the kernels of each core, and of complete games. This file has the
//! settings that they share.

mod arguments;
mod ceilings;
mod cores;
#[cfg(all(feature = "cli", unix))]
mod described;
mod games;
mod instrument;
mod pass;
mod plan;
#[cfg(all(feature = "cli", unix))]
mod process;
mod table;

use std::fs;
use std::io::{self, Write};
use std::panic;
use std::path::PathBuf;
use std::process::{Command, ExitCode, exit};
use std::time::{Duration, Instant, SystemTime};

use criterion::Criterion;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::{Machine, variable};

use self::arguments::{Arguments, Mode};
use self::instrument::Instrument;
use self::plan::Plan;
use self::table::Timing;

/// The settings of all benchmarks.
struct Bench {
    selection: Selection,
    plan: Plan,
    instrument: Instrument,
    criterion: Criterion<Instrument>,
    results: Results,
}

fn main() -> ExitCode {
    explain_panics();
    run().unwrap_or_else(|error| {
        eprintln!("bench: {error}");
        ExitCode::from(2)
    })
}

/// Runs the benchmarks that the command line names.
///
/// # Errors
/// The fault of the command line, or of a variable of the environment.
fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let plan = Plan::new(Arguments::of_this_process()?);
    if let Some(ended) = plan.arguments.run_without_own() {
        return Ok(ended?);
    }
    if pass::is_of_overhead(&plan) {
        return Ok(ExitCode::SUCCESS);
    }
    if plan.arguments.has("--help") || plan.arguments.has("-h") {
        println!("{HELP}");
    }
    let selection = Selection::new(Machine::from_env()?);
    let instrument = Instrument::default();
    let criterion = plan.configure(Criterion::default().with_measurement(instrument.clone()));
    #[cfg(feature = "cli")]
    let criterion = criterion.with_profiler(instrument::Flamegraphs::new()?);
    let mode = plan.arguments.mode();
    let results = Results::new(mode);
    let mut criterion = criterion.configure_from_args();
    if mode == Mode::Measure {
        criterion = criterion.output_directory(&results.folder);
    }
    let mut bench = Bench { selection, plan, instrument, criterion, results };
    let count = bench.announce();
    if count == 0 && matches!(mode, Mode::Measure | Mode::Profile) {
        eprintln!("bench: no benchmark has such a name; `cargo bench -- --list` lists all");
        return Ok(ExitCode::FAILURE);
    }
    ceilings::run(&mut bench);
    let timings = cores::run(&mut bench);
    games::run(&mut bench);
    bench.criterion.final_summary();
    if mode == Mode::Measure {
        bench.conclude(&timings);
    }
    #[cfg(all(feature = "cli", unix))]
    if mode == Mode::Test {
        process::test(&bench.plan.arguments);
    }
    Ok(ExitCode::SUCCESS)
}

/// A run is over before a first pass would be.
const BRIEF: Duration = Duration::from_secs(4);

/// The options that name criterion's baseline.
const BASELINES: [&str; 5] = ["-b", "--baseline", "--baseline-lenient", "-s", "--save-baseline"];

/// The options of these benches beside criterion's.
const HELP: &str = "\
Without a filter, each kernel is timed at the published size of its default workload and at two sizes beside it.
  --full  All sizes and workloads. A filter takes all whose name it fits: `cargo bench -- mex_zeros`.
";

impl Bench {
    /// Says what will be measured and for how long. Returns the number of benchmarks.
    fn announce(&self) -> usize {
        let Bench { selection, plan, results, .. } = self;
        let start = Instant::now();
        let mut tasks = ceilings::tasks(selection, plan);
        tasks.extend(cores::tasks(selection, plan));
        tasks.extend(games::tasks(selection, plan));
        // The inputs are made once more.
        let preparing = start.elapsed();
        let benchmarks = || tasks.iter().filter(|task| !task.is_one_run).map(|task| &*task.id);
        let count = benchmarks().count();
        if plan.arguments.mode() != Mode::Measure || plan.arguments.has("--quiet") || tasks.is_empty() {
            return tasks.len();
        }
        let time = if plan.is_overridden() {
            None
        } else if pass::predicted(&tasks, plan) < BRIEF {
            Some(BRIEF)
        } else {
            eprintln!("The first pass measures how long this takes here, in up to 15 seconds ..");
            let runs = pass::time_of_runs(&tasks, plan);
            let baseline = plan.arguments.value(&BASELINES).unwrap_or("base");
            let overhead = pass::Overhead::of(plan).unwrap_or(pass::Overhead::UNKNOWN);
            Some(preparing + runs + overhead.sum(benchmarks(), &results.folder, baseline))
        };
        println!("{}", plan.announcement(count, time));
        tasks.len()
    }

    /// Prints the results, and how to go on.
    fn conclude(&self, timings: &[Timing]) {
        let Bench { selection, plan, results, .. } = self;
        let has = |option| plan.arguments.has(option);
        if has("--quiet") {
            return;
        }
        let table = if plan.arguments.has_filter() {
            table::of_kernels(timings)
        } else {
            table::of_operations(timings, &selection.machine().tiers().collect::<Vec<_>>())
        };
        print!("{table}");
        let report = results.folder.join("report/index.html");
        if !has("--noplot") && !has("-n") && report.exists() {
            println!("HTML report: {}", report.display());
        }
        println!(
            "Times of one run differ by several percent. Which kernel is faster: `cargo run --release -- compare mex_zeros`.\n\
             Where it spends its time: `cargo bench -- --profile-time 3 mex_zeros`. Lessons: RESULTS.md."
        );
    }
}

/// The files of criterion.
struct Results {
    folder: PathBuf,
    /// The start of this run.
    start: SystemTime,
}

impl Results {
    fn new(mode: Mode) -> Self {
        let folder = if mode == Mode::Measure { results() } else { PathBuf::new() };
        Results { folder, start: SystemTime::now() }
    }

    /// The time of a benchmark in nanoseconds, if this run has estimated it.
    fn estimate(&self, id: &str) -> Option<f64> {
        let file = self.folder.join(folder(id)).join("new/estimates.json");
        let is_new = fs::metadata(&file).ok()?.modified().ok()? >= self.start;
        table::estimate(&fs::read_to_string(file).ok().filter(|_| is_new)?)
    }
}

/// The folder of a benchmark among criterion's results. A group is one folder.
fn folder(id: &str) -> PathBuf {
    id.replacen('/', "_", 1).into()
}

/// The folder that criterion writes to, by its own rule. Criterion has no function for it, and takes an empty variable for a path.
fn results() -> PathBuf {
    let set = |name: &str| variable(name).map(PathBuf::from);
    let target = || set("CARGO_TARGET_DIR").or_else(target_folder).unwrap_or_else(|| "target".into());
    set("CRITERION_HOME").unwrap_or_else(|| target().join("criterion"))
}

/// The target folder by cargo's settings, if cargo started this program.
fn target_folder() -> Option<PathBuf> {
    let mut metadata = Command::new(variable("CARGO")?);
    let output = metadata.args(["metadata", "--no-deps", "--format-version=1"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (path, _) = text.split_once(r#""target_directory":""#)?.1.split_once('"')?;
    Some(path.replace(r"\\", r"\").into())
}

/// Ends the program with a line, not with a panic, where criterion panics about what its user asked for. A closed pipe is not an error.
fn explain_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let text = panic.payload();
        let text = text.downcast_ref::<String>().map(String::as_str).or_else(|| text.downcast_ref().copied());
        let text = text.unwrap_or_default();
        let is_of_output = text.starts_with("failed printing to stdout");
        if is_of_output && text.contains("Broken pipe") {
            exit(0)
        }
        if is_of_output || panic.location().is_some_and(|place| place.file().contains("criterion")) {
            let _ = writeln!(io::stderr(), "bench: {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
            exit(1)
        }
        usual(panic);
    }));
}
