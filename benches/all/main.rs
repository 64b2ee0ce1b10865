//! The benches: of the machine's ceilings, of the kernels of each core, and of complete games. This file has the
//! settings that they share.

mod arguments;
mod ceilings;
mod cores;
mod games;
mod instrument;
mod plan;
#[cfg(all(feature = "cli", unix))]
mod process;

use std::env;
use std::io::{self, Write};
use std::panic;
use std::path::PathBuf;
use std::process::{Command, ExitCode, exit};

use criterion::Criterion;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;

use self::arguments::{Arguments, Mode};
use self::instrument::Instrument;
use self::plan::Plan;

/// What all benchmarks are run with.
struct Bench {
    selection: Selection,
    plan: Plan,
    instrument: Instrument,
    criterion: Criterion<Instrument>,
}

fn main() -> ExitCode {
    explain_panics();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the benchmarks that the command line asks for.
///
/// # Errors
/// What is wrong with the command line, or with a variable of the environment.
fn run() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::new(Arguments::of_this_process()?);
    let selection = Selection::new(Machine::from_env()?);
    let instrument = Instrument::default();
    let criterion = plan.configure(Criterion::default().with_measurement(instrument.clone()));
    #[cfg(feature = "cli")]
    let criterion = criterion.with_profiler(instrument::Flamegraphs::new()?);
    let mode = plan.arguments.mode();
    let mut bench = Bench { selection, plan, instrument, criterion: criterion.configure_from_args() };
    let count = bench.announce();
    ceilings::run(&mut bench);
    cores::run(&mut bench);
    games::run(&mut bench);
    bench.criterion.final_summary();
    if mode == Mode::Measure && count > 0 {
        bench.conclude();
    }
    #[cfg(all(feature = "cli", unix))]
    if mode == Mode::Test {
        process::test(&bench.plan.arguments);
    }
    Ok(())
}

impl Bench {
    /// Says what will be measured and for how long. Returns the number of benchmarks.
    fn announce(&self) -> usize {
        let Bench { selection, plan, .. } = self;
        let mut all = [ceilings::all(), cores::all(selection, plan), games::all(selection, plan)].concat();
        all.retain(|(id, _)| plan.arguments.picks(id));
        let count = if all.len() == 1 { "1 benchmark".to_owned() } else { format!("{} benchmarks", all.len()) };
        let time = plan.duration(all.iter().map(|(_, run)| *run));
        match plan.arguments.mode() {
            Mode::Measure | Mode::Profile if all.is_empty() => {
                eprintln!("bench: no benchmark has such a name; `cargo bench -- --list` lists all");
            }
            Mode::Measure if plan.arguments.has("--quiet") => {}
            Mode::Measure if plan.arguments.has_filter() => println!("{count}, {time}.\n"),
            Mode::Measure => println!(
                "{count}, {time}: what this machine can do at best, every kernel at several sizes, whole games.\n\
                 Part of a name takes fewer: `cargo bench -- mex_zeros`. `cargo bench -- --list` lists the names.\n"
            ),
            _ => {}
        }
        all.len()
    }

    /// Says where the results are, and how to go on.
    fn conclude(&self) {
        let has = |option| self.plan.arguments.has(option);
        if has("--quiet") {
            return;
        }
        let report = results().join("report/index.html");
        if !has("--noplot") && !has("-n") && report.exists() {
            println!("HTML report: {}", report.display());
        }
        println!(
            "Times of one run differ by several percent. Which kernel is faster: `cargo run --release -- compare mex_zeros`.\n\
             Where it spends its time: `cargo bench -- --profile-time 3 mex_zeros`. What was learnt: RESULTS.md."
        );
    }
}

/// The folder that criterion writes to. Criterion has no function for it, so this repeats its rule.
fn results() -> PathBuf {
    let set = |variable: &str| env::var_os(variable).map(PathBuf::from);
    let target = || set("CARGO_TARGET_DIR").or_else(target_folder).unwrap_or_else(|| "target".into());
    set("CRITERION_HOME").unwrap_or_else(|| target().join("criterion"))
}

/// The target folder by cargo's settings, if cargo started this program.
fn target_folder() -> Option<PathBuf> {
    let mut metadata = Command::new(env::var_os("CARGO")?);
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
