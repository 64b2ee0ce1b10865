//! `nimlanes compare`

use std::path::{Path, PathBuf};
use std::time::Duration;

use nimlanes::lab::environment::Environment;
use nimlanes::numbers::within;
use serde::Serialize;

use super::arguments::{Target, Threads, duplicate, number, seconds};
use crate::files::saved::{Saved, check_writable};
use crate::measuring::builds;
use crate::measuring::counters::{self, Counters, Source};
use crate::measuring::duel::show::{self, Versus};
use crate::measuring::duel::{Duel, DuelError, DuelOptions, Match, PROCESSES, TIME_LIMIT, run_duel};
use crate::measuring::programs::HAS_PROCESSES;
use crate::measuring::revisions::Revision;
use crate::measuring::toolchains;
use crate::terminal::failure::{Failure, remark};
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{Document, print, print_json};

/// Compare the speed of kernels on one input: check that their outputs agree, then time them in turns
///
/// The rounds are spread over several processes, because one process is one layout in memory, and kernels may be faster or slower
/// in the next. With --with, --rev or --build, another build of this program takes part; with --toolchain, one for each compiler.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes compare mex_subtraction --size 100000\n  \
    nimlanes compare table_scan --size 5000 --threads 2 --kernels bit_rows,byte_table --json\n  \
    nimlanes compare mex_subtraction --counters\n  \
    nimlanes compare mex_subtraction --save before.json\n  \
    nimlanes compare mex_subtraction --with ../before/target/release/nimlanes\n  \
    nimlanes compare mex_subtraction --rev HEAD~1 --kernels flags,stamp\n  \
    nimlanes compare mex_subtraction --size 100000 --build native --until 1%\n  \
    nimlanes compare mex_split --toolchain 1.89,nightly --install")]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Kernels to compare, separated by commas [default: all that can run]
    #[arg(long, value_name = "A,B,C")]
    kernels: Option<String>,
    /// The kernel that ratios refer to [default: the first within --time-limit]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// How long to measure, in seconds; there are at least three rounds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// End before that when each ratio is known to within this share of it, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    until: Option<f64>,
    /// Processes to spread the rounds over; fewer if runs are so long that the time is up before
    #[arg(long, value_name = "N", default_value_t = PROCESSES as u64, value_parser = within(1..=MAX_PROCESSES), allow_negative_numbers = true)]
    processes: u64,
    /// Another build of this program, whose kernels take turns with those of this one. One for WebAssembly (`.wasm`) runs in Node
    #[arg(long, value_name = "PATH", conflicts_with_all = ["rev", "build", "save"])]
    with: Option<PathBuf>,
    /// A revision of the repository around the working directory, to build below target/compare and use as with --with
    #[arg(long, value_name = "REV", conflicts_with_all = ["build", "save"])]
    rev: Option<String>,
    /// Build the repository around the working directory for this CPU, as cargo run-native does, and use that as with --with
    #[arg(long, conflicts_with_all = ["save"])]
    build: Option<Build>,
    /// Build the repository around the working directory by the compilers of these toolchains of rustup, such as 1.89,nightly, and
    /// show each kernel by each compiler
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = toolchains::name, conflicts_with_all = ["with", "rev", "build", "save"])]
    toolchain: Vec<String>,
    /// With --toolchain: install what is missing
    #[arg(long, requires = "toolchain")]
    install: bool,
    /// Skip kernels predicted to take longer than this for a run, in seconds
    #[arg(long, alias = "patience", value_name = "S", default_value_t = TIME_LIMIT.as_secs_f64(), value_parser = seconds, allow_negative_numbers = true)]
    time_limit: f64,
    #[command(flatten)]
    threads: Threads,
    /// Pin the process to this CPU, counted from 0
    #[arg(long, value_name = "CPU", value_parser = number, allow_negative_numbers = true)]
    pin: Option<u64>,
    /// Save the duel to a file, with date and environment. A file with several hard links is refused
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Also count instructions, cycles and misses per unit of work [default: by the counters of the CPU, else by single steps]
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, require_equals = true, conflicts_with_all = ["with", "rev", "build", "toolchain"])]
    counters: Option<Option<Source>>,
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

/// Another way to compile the same sources.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Build {
    Native,
}

/// Parses a share in percent.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.1..=50.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("not a share from 0.1% to 50%".to_owned()),
    }
}

/// More processes would add no information.
pub const MAX_PROCESSES: u64 = 200;

/// The output of `--json`.
#[derive(Serialize)]
pub struct Outcome<'a> {
    #[serde(flatten)]
    duel: &'a Duel,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<&'a Counters>,
}

impl Document for Outcome<'_> {
    const SCHEMA: &'static str = "nimlanes-duel-2";
}

impl From<DuelError> for Failure {
    fn from(error: DuelError) -> Self {
        match error {
            DuelError::Run(error) => error.into(),
            DuelError::OutputsDiffer { .. } | DuelError::WrongAnswer(_) | DuelError::Player(_) => {
                Failure::Failed(error.to_string())
            }
            _ => Failure::Usage(error.to_string()),
        }
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.threads.selection(Some(1))?;
    // Before the duel, not after it.
    args.save.as_deref().map_or(Ok(()), check_writable)?;
    let environment = Environment::detect(selection.machine());
    let kernels = match &args.kernels {
        None => Vec::new(),
        Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    if let Some(name) = duplicate(&kernels).filter(|name| !name.is_empty()) {
        return Err(Failure::Usage(format!("--kernels names {name} twice; once is allowed")));
    }
    let options = DuelOptions {
        kernels,
        baseline: args.baseline.clone(),
        threads: selection.threads(),
        budget: Duration::from_secs_f64(args.seconds),
        time_limit: Duration::from_secs_f64(args.time_limit),
        always_included: Vec::new(),
    };
    let open = || {
        let session = args.target.session(&selection)?;
        if options.kernels.iter().any(String::is_empty) {
            let all = session.kernels().iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", ");
            return Err(Failure::Usage(format!("--kernels has an empty name; allowed: {all}")));
        }
        Ok(session)
    };
    let run = interrupt::run(selection.threads());
    if !HAS_PROCESSES {
        let others = args.with.is_some() || args.rev.is_some() || args.build.is_some() || !args.toolchain.is_empty();
        if others || args.until.is_some() || args.counters.is_some() {
            let what = "this system has no other processes: --with, --rev, --build, --toolchain, --until and --counters need them";
            return Err(Failure::Usage(what.to_owned()));
        }
        remark("this system has no other processes: all rounds are in this one, and have its layout in memory");
        let duel = run_duel(open()?.as_ref(), &options, &run, &mut |_| {})?;
        return finish(args, Saved::now(environment, duel), |_| Ok(None));
    }
    let duel = Match::new(open, &options, args.processes as usize, selection.machine(), &run)?.until(args.until);
    let toolchains = match &args.toolchain[..] {
        [] => Vec::new(),
        names => toolchains::build(names, args.install, &run)?,
    };
    let revision = args.rev.as_deref().map(|name| Revision::build(name, &run)).transpose()?;
    let program = match (&args.with, &revision, args.build) {
        (Some(path), ..) => Some(path.clone()),
        (_, Some(revision), _) => Some(revision.program.clone()),
        (.., Some(Build::Native)) => Some(builds::native(&run)?),
        (None, None, None) => None,
    };
    if let Some(cpu) = args.pin {
        pin(cpu, selection.threads())?;
    }
    let (bar, mut watch) = Monitor::of_share(duel.case().to_string());
    if !toolchains.is_empty() {
        let programs: Vec<&Path> = toolchains.iter().map(|toolchain| toolchain.program.as_path()).collect();
        let played = duel.play_compilers(&programs, &mut watch);
        drop(bar);
        let compilers = played?;
        return if args.json { print_json(&compilers) } else { print(&compilers.text()) };
    }
    let Some(program) = program else {
        let played = duel.play(&mut watch);
        drop(bar);
        let count = |duel: &Duel| {
            let session = args.target.session(&selection)?;
            let kernels: Vec<usize> = duel.rows.iter().filter_map(|row| session.index(&row.kernel)).collect();
            Ok(counters::count(session.as_ref(), &kernels, args.counters.flatten(), &run, &mut remark)?)
        };
        return finish(args, Saved::now(environment, played?), count);
    };
    let played = duel.play_against(&program, options.kernels.is_empty(), &mut watch);
    drop(bar);
    let (duel, other) = played?;
    let versus = Versus::new(&duel, &other);
    if args.json { print_json(&versus) } else { print(&versus.text()) }
}

/// Saves and prints a duel of this build alone. `count` counts what its kernels do.
fn finish(
    args: &Args,
    duel: Saved<Duel>,
    count: impl FnOnce(&Duel) -> Result<Option<Counters>, Failure>,
) -> Result<(), Failure> {
    if let Some(path) = &args.save {
        duel.write(path)?;
    }
    let duel = &duel.content;
    let count = || if args.counters.is_some() { count(duel) } else { Ok(None) };
    if args.json {
        return print_json(&Outcome { duel, counters: count()?.as_ref() });
    }
    print(&show::duel(duel))?;
    count()?.map_or(Ok(()), |counters| print(&counters.text()))
}

/// Pins this process to one CPU.
#[cfg(not(target_os = "linux"))]
fn pin(_: u64, _: usize) -> Result<(), Failure> {
    Err(Failure::Usage("--pin is allowed on Linux alone".to_owned()))
}

/// Pins this process to one CPU.
#[cfg(target_os = "linux")]
fn pin(cpu: u64, threads: usize) -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    if threads > 1 {
        return Err(Failure::Usage(format!("--pin needs --threads 1, not {threads}")));
    }
    let refused = |error: rustix::io::Errno| Failure::Failed(format!("--pin {cpu}: {error}"));
    let allowed = sched_getaffinity(None).map_err(refused)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    match usize::try_from(cpu).ok().filter(|cpu| cpus.contains(cpu)) {
        None => {
            let cpus = cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            Err(Failure::Usage(format!("--pin `{cpu}` is not a CPU of this process; allowed: {cpus}")))
        }
        Some(cpu) => {
            let mut set = CpuSet::new();
            set.set(cpu);
            sched_setaffinity(None, &set).map_err(refused)
        }
    }
}
