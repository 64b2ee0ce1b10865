//! `nimlanes survey`

mod sets;
mod shard;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nimlanes::cores::mex::octal::{self, Code, Journal, MexOctal, Octal, Start, sparse_space};
use nimlanes::kernel::{Operation, Run, RunError};
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment::Environment;
use nimlanes::numbers::within;
use nimlanes::selection::Selection;
use nimlanes::workload::InputError;

use self::shard::Shard;
use crate::commands::arguments::{Kernels, number, seconds};
use crate::files::saved::{Saved, check_writable};
use crate::files::surveyed::{Period, Surveyed};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::print;

/// Survey octal games, each for some seconds, or the periods of all subtraction sets of some moves
///
/// What is found is kept: a game in a file of its own, sets in a file for each shard. What has a file is skipped, so an interrupted
/// survey goes on where it was stopped. Shards can share a folder.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes survey 0.6 0.14 grundy --into surveyed\n  \
    nimlanes survey --sets 3 --moves-up-to 64 --shard 0/4 --into swept\n  \
    nimlanes survey @profiles/discoveries/octal/games.txt --into profiles/discoveries/octal")]
pub struct Args {
    /// Codes of games, as in 0.137; or @FILE with codes, where a # begins a comment
    #[arg(conflicts_with_all = ["sets", "moves_up_to"], value_name = "CODE")]
    codes: Vec<String>,
    /// Instead of codes, all subtraction sets of K moves: the periods of their values, proved
    #[arg(long, value_name = "K", requires = "moves_up_to", value_parser = within(1..=100), allow_negative_numbers = true)]
    sets: Option<u64>,
    /// The largest move of these sets
    #[arg(long, value_name = "M", requires = "sets", value_parser = within(1..=1_000_000), allow_negative_numbers = true)]
    moves_up_to: Option<u64>,
    /// Do only this part of N parts of about the same predicted work, counted from 0
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: Shard,
    /// The folder for the files
    #[arg(long, value_name = "FOLDER")]
    into: PathBuf,
    /// How long to compute each game
    #[arg(long, value_name = "S", default_value = "10", conflicts_with = "sets", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// The largest heap, however much time is left
    #[arg(long, value_name = "N", default_value = "1e8", value_parser = number, allow_negative_numbers = true)]
    limit: u64,
    /// Recompute what already has a file
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    kernels: Kernels,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    match (args.sets, args.moves_up_to) {
        (Some(count), Some(largest)) => sets::main(count, largest, args),
        _ if args.codes.is_empty() => Err(Failure::Usage(
            "nothing to survey; allowed: codes such as 0.137, @FILE with codes, or --sets K --moves-up-to M".to_owned(),
        )),
        _ => games(args),
    }
}

/// Surveys octal games.
fn games(args: &Args) -> Result<(), Failure> {
    let codes = codes(&args.codes)?;
    let selection = args.kernels.selection(|operation| match operation == MexOctal::NAME {
        true => Ok(()),
        false => Err(Failure::Usage(format!("survey does not use {operation}; allowed: {}", MexOctal::NAME))),
    })?;
    let games = codes.into_iter().map(|code| Ok((Octal::new(&code, args.limit)?, code)));
    let games = args.shard.of(games.collect::<Result<Vec<_>, InputError>>()?, |(input, _)| work(input, args.seconds));
    for (input, code) in &games {
        let path = args.into.join(format!("{code}.json"));
        if !args.again && path.exists() {
            print(&format!("{}: known\n", Saved::<Surveyed>::read(&path)?.content))?;
            continue;
        }
        check_writable(&path)?;
        let found = survey(code, input, args, &selection)?;
        print(&format!("{found}\n"))?;
        Saved::now(Environment::detect(selection.machine()), found).write(&path)?;
    }
    Ok(())
}

/// Predicted nanoseconds, at most those that a game is given. By plain kernels alone: all builds and machines predict the same.
fn work(input: &Octal, seconds: f64) -> u64 {
    let plain = MexOctal::KERNELS.iter().filter(|kernel| kernel.is_plain());
    let costs = plain.filter_map(|kernel| kernel.predict(input, 1));
    costs.map(|cost| cost.ns).fold(seconds * 1e9, f64::min) as u64
}

/// The codes that are named, and those in files, each once.
fn codes(named: &[String]) -> Result<Vec<Code>, Failure> {
    let mut codes = Vec::new();
    for text in named {
        match text.strip_prefix('@') {
            None => codes.push(parse(text)?),
            Some(path) => {
                let text = fs::read_to_string(Path::new(path))
                    .map_err(|error| Failure::Usage(format!("cannot read codes from {path}: {error}")))?;
                let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
                for code in lines.flat_map(str::split_whitespace) {
                    codes.push(parse(code)?);
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    codes.retain(|code: &Code| seen.insert(code.to_string()));
    match codes.is_empty() {
        true => Err(Failure::Usage(
            "the files contain no codes; allowed: codes such as 0.137, and # before comments".to_owned(),
        )),
        false => Ok(codes),
    }
}

fn parse(text: &str) -> Result<Code, Failure> {
    Ok(text.parse().map_err(InputError::Code)?)
}

/// The values that were known when a run was stopped.
#[derive(Default)]
struct Stopped(Mutex<Vec<u16>>);

impl Journal for Stopped {
    fn keep(&self, values: &[u16], is_last: bool) {
        if is_last {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = values.to_vec();
        }
    }
}

/// Computes a game until the time is over.
fn survey(code: &Code, input: &Octal, args: &Args, selection: &Selection) -> Result<Surveyed, Failure> {
    let kernel = selection.kernel_for::<MexOctal, _>(input, args.limit, |limit| Octal::new(code, limit))?;
    let run = interrupt::run(selection.threads());
    let stopped = Arc::new(Stopped::default());
    let start = Start::with_journal(Arc::clone(&stopped) as Arc<dyn Journal>, Vec::new());
    let _monitor = Monitor::new(format!("survey: {code}"), &run, MexOctal::steps(input));
    let clock = Clock::for_threads(selection.threads());
    let begin = clock.now();
    let ended = in_time(Duration::from_secs_f64(args.seconds), &run, || kernel.run_from(start, input, &run));
    let time = clock.now() - begin;
    let values = match ended {
        Ok(values) => values,
        Err(RunError::Cancelled) if !interrupt::is_over() => {
            std::mem::take(&mut *stopped.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
        Err(error) => return Err(error.into()),
    };
    if values.is_empty() {
        return Err(Failure::Failed(format!("{code}: no values in {} s; allowed: more --seconds", args.seconds)));
    }
    let period = octal::period(code, &values, &interrupt::run(1))?;
    let space = (!code.has_three_parts()).then(|| sparse_space(code, &values));
    let (largest_at, largest) =
        (0..).zip(&values).fold((0, 0), |best, (n, v)| if *v > best.1 { (n, *v) } else { best });
    Ok(Surveyed {
        code: code.to_string(),
        kernel: kernel.def().name.to_owned(),
        threads: selection.threads(),
        clock: clock.name().to_owned(),
        seconds: time.as_secs_f64(),
        heaps: values.len() as u64,
        largest,
        largest_at,
        rare: space.as_ref().map(|space| space.rare.len() as u64),
        last_rare: space.as_ref().and_then(|space| space.rare.last()).map(|heap| *heap as u64),
        mask: space.as_ref().map(|space| space.mask.values),
        by_position: space.as_ref().is_some_and(|space| space.mask.position.is_some()),
        period: period.map(Period::from),
    })
}

/// Does `work`, and cancels `run` if it takes longer than this.
fn in_time<T>(time: Duration, run: &Run, work: impl FnOnce() -> T) -> T {
    let (end, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                run.cancel();
            }
        });
        let done = work();
        drop(end);
        done
    })
}
