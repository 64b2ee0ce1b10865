//! `nimlanes calibrate`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::selection::{Selection, largest};
use nimlanes::kernel::session::{AnyOperation, Session};
use nimlanes::lab::environment::Environment;
use nimlanes::numbers::within;

use super::arguments::{Threads, seconds};
use super::compare::MAX_PROCESSES;
use crate::files::saved::{Saved, check_writable};
use crate::measuring::calibration::{Calibration, DELAYS, FILE, Trial};
use crate::measuring::duel::{DuelOptions, Match, PROCESSES, TIME_LIMIT};
use crate::measuring::programs::HAS_PROCESSES;
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::print;

/// Measure how far to trust a duel on this machine: how often it sees a difference between this build and itself, and how small a
/// delay it finds
///
/// The selected kernel of every operation plays against itself, at the published size and at one where a run takes some ten
/// microseconds: without a delay, and with one of 1, 2 and 5 % on one side. `compare` then says what is not told apart on this
/// machine, in place of 5 %. Both sides are one file: what another layout of code does is not part of it.
#[derive(clap::Args)]
#[command(after_help = "Example: nimlanes calibrate --minutes 60 --seconds 5")]
pub struct Args {
    /// How long to play, in minutes. What an earlier call has played is kept and continued
    #[arg(long, value_name = "M", default_value = "60", value_parser = minutes, allow_negative_numbers = true)]
    minutes: f64,
    /// How long a duel takes, in seconds
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Processes to spread the rounds of a duel over
    #[arg(long, value_name = "N", default_value_t = PROCESSES as u64, value_parser = within(1..=MAX_PROCESSES), allow_negative_numbers = true)]
    processes: u64,
    /// The file. `compare` looks for the default one
    #[arg(long, value_name = "FILE", default_value = FILE)]
    into: PathBuf,
}

/// Parses a time in minutes.
fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= 1440.0 => Ok(minutes),
        _ => Err("not a number of minutes above 0 and at most 1440".to_owned()),
    }
}

/// What a run of the short input should take.
const SHORT: Duration = Duration::from_micros(30);

pub fn main(args: &Args) -> Result<(), Failure> {
    if !HAS_PROCESSES {
        return Err(Failure::Usage("this system has no other processes, which calibrate needs".to_owned()));
    }
    let selection = Threads::default().selection(Some(1))?;
    let environment = Environment::detect(selection.machine());
    check_writable(&args.into)?;
    let mut calibration = begun(args, &environment)?;
    let run = interrupt::run(1);
    let inputs: Vec<Input> =
        OPERATIONS.iter().map(|operation| Input::both(*operation, &selection)).collect::<Result<Vec<_>, _>>()?.concat();
    let (start, time) = (Instant::now(), Duration::from_secs_f64(60.0 * args.minutes));
    let bar = Monitor::of_time("duels of this build with itself".to_owned(), time);
    while start.elapsed() < time {
        let played = calibration.trials.len();
        let (input, delay) = (inputs[played % inputs.len()], DELAYS[played / inputs.len() % DELAYS.len()]);
        let options = DuelOptions {
            kernels: vec![input.kernel.to_owned()],
            baseline: None,
            threads: 1,
            budget: Duration::from_secs_f64(args.seconds),
            time_limit: TIME_LIMIT,
            always_included: Vec::new(),
        };
        let open = || input.session(&selection);
        let duel = Match::new(open, &options, args.processes as usize, selection.machine(), &run)?;
        let (duel, other) = duel.play_against_itself(delay, &mut |_| {})?;
        let change = other.rows[0].change;
        calibration.trials.push(Trial {
            case: duel.case,
            kernel: input.kernel.to_owned(),
            delay,
            run_seconds: duel.rows[0].median_seconds,
            rounds: duel.rows[0].rounds,
            ratio: change.new_over_old,
            interval: change.new_over_old_interval,
            ratio_of_medians: other.rows[0].row.ratio,
        });
        // Whatever ends this, what was played is kept.
        Saved::now(environment.clone(), calibration.clone()).write(&args.into)?;
    }
    drop(bar);
    print(&calibration.text())
}

/// What the file holds, to be continued; or nothing yet.
fn begun(args: &Args, environment: &Environment) -> Result<Calibration, Failure> {
    let new = Calibration { seconds: args.seconds, processes: args.processes as usize, trials: Vec::new() };
    if !args.into.exists() {
        return Ok(new);
    }
    let saved = Saved::<Calibration>::read(&args.into)?;
    saved.fits(environment)?;
    let Calibration { seconds, processes, .. } = saved.content;
    if (seconds, processes) != (new.seconds, new.processes) {
        let file = args.into.display();
        let what = format!(
            "{file} has duels of {seconds} s in {processes} processes: continue with these, or name another file"
        );
        return Err(Failure::Usage(what));
    }
    Ok(saved.content)
}

/// An input, and its selected kernel.
#[derive(Clone, Copy)]
struct Input {
    operation: &'static dyn AnyOperation,
    size: u64,
    kernel: &'static str,
}

impl Input {
    /// The published input of an operation, and a short one.
    fn both(operation: &'static dyn AnyOperation, selection: &Selection) -> Result<Vec<Self>, Failure> {
        let published = Input::new(operation, operation.workloads()[0].published, selection)?.0;
        let is_short = |size| Input::new(operation, size, selection).is_ok_and(|(_, time)| time <= SHORT);
        let short = Input::new(operation, largest(published.size, is_short).max(1), selection)?.0;
        Ok(vec![published, short])
    }

    /// Also the predicted time of a run.
    fn new(
        operation: &'static dyn AnyOperation,
        size: u64,
        selection: &Selection,
    ) -> Result<(Self, Duration), Failure> {
        let session = operation.session(selection, operation.workloads()[0].name, size)?;
        let kernel = selection.kernel_of(session.as_ref())?;
        let time = session.candidates(1, Duration::MAX)[kernel].predicted();
        Ok((Input { operation, size, kernel: session.kernels()[kernel].name }, time))
    }

    fn session(&self, selection: &Selection) -> Result<Box<dyn Session>, Failure> {
        Ok(self.operation.session(selection, self.operation.workloads()[0].name, self.size)?)
    }
}
