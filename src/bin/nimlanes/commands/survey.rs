//! `nimlanes survey`

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nimlanes::cores::mex::octal::{self, Code, Journal, MAX_ENDLESS, MAX_LIMIT, MexOctal, Octal, Start};
use nimlanes::cores::mex::period::{self, Census, MexPeriod, Progress, Rare, Tally};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Operation, Run, RunError};
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment::Environment;

use super::arguments::shard::Shard;
use super::arguments::{Kernels, code, listed, number, seconds};
use crate::files::folder::{self, Measurement};
use crate::files::saved::{Saved, check_writable};
use crate::files::surveyed::{Period, Surveyed};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::print;

/// The largest heap of a table of values, unless another is named.
const LIMIT: u64 = 100_000_000;
/// The largest heap where no table of values is needed, unless another is named.
const FARTHEST: u64 = 1 << 48;
/// The share of the time for a first table, which shows whether few heaps are rare.
const GLANCE: f64 = 0.1;
/// Few heaps are rare if they are fewer than one in this many.
const FEW: usize = 64;

/// Survey octal games, each for some seconds
///
/// What is found is kept, a game in a file of its own. What a survey as long as this one has found is skipped, so an interrupted survey
/// goes on where it was stopped; a longer one replaces what is not proved. Shards can share a folder.
///
/// A period is proved, or else observed: it has repeated at least eight times, over at least half of the heaps.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes survey 0.6 0.14 grundy --dir surveyed\n  \
    nimlanes survey @profiles/discoveries/octal/games.txt --shard 0/4 --dir surveyed")]
pub struct Args {
    /// Codes of games, as in 0.137; or @FILE with a list of codes, where a # begins a comment
    #[arg(required = true, value_name = "CODE")]
    codes: Vec<String>,
    /// Do only this part of N parts of about the same predicted work, counted from 0
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: Shard,
    /// The folder for the files
    #[arg(long, value_name = "DIR", value_parser = listed::folder())]
    dir: PathBuf,
    /// How long to compute each game
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// The largest heap, however much time is left [default: 1e8; where no table of values is needed, 2^48]
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    limit: Option<u64>,
    #[command(flatten)]
    kernels: Kernels,
}

/// A game up to a limit: by default as far as its digits allow.
fn game(code: &Code, limit: Option<u64>, default: u64) -> Result<Octal, InputError> {
    let most = if code.last_place().is_some() { MAX_LIMIT } else { MAX_ENDLESS };
    Octal::new(code, limit.unwrap_or(default.min(most)))
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let codes = codes(&args.codes)?;
    let selection = args.kernels.selection_for("survey", &[MexOctal::NAME, MexPeriod::NAME])?;
    let selection = selection.allow_long(); // a run ends when its time is over
    let games = codes.iter().map(|code| game(code, args.limit, LIMIT));
    let games = args.shard.of(games.collect::<Result<Vec<_>, InputError>>()?, |input| work(input, args.seconds));
    let known = folder::read(&args.dir)?;
    for input in &games {
        let name = format!("{}.json", input.code());
        if let Some(Measurement { path, text }) = known.get(&name) {
            let known = Saved::<Surveyed>::parsed(path, text)?.content;
            if known.is_final(args.limit, LIMIT, args.seconds) {
                print(&format!("{known}: known\n"))?;
                continue;
            }
        }
        let path = args.dir.join(name);
        check_writable(&path)?;
        let found = survey(input, args, &selection)?;
        print(&format!("{found}\n"))?;
        Saved::now(Environment::detect(selection.machine()), found).write(&path)?;
    }
    Ok(())
}

/// Predicted nanoseconds, at most those that a game is given. Only plain kernels are asked, so all builds and machines agree.
fn work(input: &Octal, seconds: f64) -> u64 {
    let plain = MexOctal::KERNELS.iter().filter(|kernel| kernel.is_plain());
    let costs = plain.filter_map(|kernel| kernel.predict(input, 1));
    costs.map(|cost| cost.ns).fold(seconds * 1e9, f64::min) as u64
}

/// The codes that are named, and those in files, each game once.
fn codes(named: &[String]) -> Result<Vec<Code>, Failure> {
    let mut codes = Vec::new();
    for text in named {
        let text = listed::given("codes", text).map_err(Failure::Usage)?;
        for item in listed::items(&text) {
            codes.push(code(item)?);
        }
    }
    let mut seen = BTreeSet::new();
    codes.retain(|code: &Code| seen.insert(code.to_string()));
    match codes.is_empty() {
        true => Err(Failure::Usage(
            "the lists contain no codes; allowed: codes such as 0.137, and # before comments".to_owned(),
        )),
        false => Ok(codes),
    }
}

/// Computes a game until the time is over: first a table of values; if few of its heaps are rare, then without one.
fn survey(input: &Octal, args: &Args, selection: &Selection) -> Result<Surveyed, Failure> {
    let code = input.code();
    let time = |part: f64| Duration::from_secs_f64(part * args.seconds);
    let ended = |found: Surveyed, input: &Octal| Surveyed {
        stopped_after: (found.heaps < input.heaps() as u64).then_some(args.seconds),
        ..found
    };
    let mut table = Table::default();
    if args.kernels.names(MexOctal::NAME) || code.has_three_parts() {
        table.extend(input, time(1.0), selection)?;
    } else {
        table.extend(&Octal::new(code, input.limit().min(LIMIT))?, time(GLANCE), selection)?;
        let farthest = game(code, args.limit, FARTHEST)?;
        if table.values.len() < farthest.heaps()
            && table.is_sparse(code)
            && let Some(found) = without_table(&farthest, time(1.0 - GLANCE), selection)?
        {
            return Ok(ended(found, &farthest));
        }
        if table.values.len() < input.heaps() {
            table.extend(input, time(1.0 - GLANCE), selection)?;
        }
    }
    match table.values.is_empty() {
        true => Err(Failure::Failed(format!("{code}: no values in {} s; allowed: more --seconds", args.seconds))),
        false => Ok(ended(table.surveyed(code, selection)?, input)),
    }
}

/// The values of the first heaps.
#[derive(Default)]
struct Table {
    values: Vec<u16>,
    kernel: &'static str,
    time: Duration,
}

impl Table {
    /// Computes more values until the time is over.
    fn extend(&mut self, input: &Octal, time: Duration, selection: &Selection) -> Result<(), Failure> {
        let stopped = Arc::new(Stopped(Mutex::new(None)));
        let start = Start::with_journal(Arc::clone(&stopped) as Arc<dyn Journal>, std::mem::take(&mut self.values));
        let ended = in_time::<MexOctal>(input, start, time, selection)?;
        self.values = match ended.found {
            Err(RunError::Cancelled) if !interrupt::is_over() => stopped.take().unwrap_or_default(),
            found => found?,
        };
        self.kernel = ended.kernel;
        self.time += ended.time;
        Ok(())
    }

    /// Whether few heaps are rare.
    fn is_sparse(&self, code: &Code) -> bool {
        FEW * Rare::of(code, &self.values).heaps < self.values.len()
    }

    fn surveyed(&self, code: &Code, selection: &Selection) -> Result<Surveyed, Failure> {
        let values = &self.values;
        let rare = (!code.has_three_parts()).then(|| Rare::of(code, values));
        let period = octal::period(code, values, &interrupt::run(1))?.map(Period::from);
        Ok(figures(code, (self.kernel, self.time), selection, &period::tallies(values), rare, period))
    }
}

/// Counts the values until the time is over; none if too many heaps are rare, or the time is too short to know.
fn without_table(input: &Octal, time: Duration, selection: &Selection) -> Result<Option<Surveyed>, Failure> {
    let stopped = Arc::new(Stopped(Mutex::new(None)));
    let start = period::Start::with_journal(Arc::clone(&stopped) as Arc<dyn period::Journal>, None);
    let ended = in_time::<MexPeriod>(input, start, time, selection)?;
    let census = match ended.found {
        Err(RunError::Cancelled) if !interrupt::is_over() => stopped.take(),
        Err(RunError::GaveUp(_)) => None,
        found => Some(found?),
    };
    Ok(census.map(|Census { tallies, rare, period, .. }| {
        figures(input.code(), (ended.kernel, ended.time), selection, &tallies, rare, period.map(Period::from))
    }))
}

/// What a kernel found in its time.
fn figures(
    code: &Code,
    (kernel, time): (&str, Duration),
    selection: &Selection,
    tallies: &[Tally],
    rare: Option<Rare>,
    period: Option<Period>,
) -> Surveyed {
    let Tally { value: largest, first: largest_at, .. } = *tallies.last().expect("a heap is counted");
    Surveyed {
        code: code.to_string(),
        kernel: kernel.to_owned(),
        threads: selection.threads(),
        clock: Clock::for_threads(selection.threads()).name().to_owned(),
        seconds: time.as_secs_f64(),
        stopped_after: None,
        heaps: tallies.iter().map(|tally| tally.heaps).sum(),
        largest,
        largest_at,
        rare: rare.map(|rare| rare.heaps as u64),
        last_rare: rare.filter(|rare| rare.heaps > 0).map(|rare| rare.last as u64),
        mask: rare.map(|rare| rare.mask.values),
        by_position: rare.is_some_and(|rare| rare.mask.position.is_some()),
        period,
    }
}

/// What was known when a run was stopped.
struct Stopped<T>(Mutex<Option<T>>);

impl<T> Stopped<T> {
    fn put(&self, known: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Journal for Stopped<Vec<u16>> {
    fn keep(&self, values: &[u16], is_last: bool) {
        if is_last {
            self.put(values.to_vec());
        }
    }
}

impl period::Journal for Stopped<Census> {
    fn keep(&self, _: &Progress, _: &Octal, _: bool) {}

    fn stopped(&self, census: &Census) {
        self.put(census.clone());
    }
}

/// How a run ended.
struct Ended<T> {
    found: Result<T, RunError>,
    kernel: &'static str,
    time: Duration,
}

/// Runs an operation, and cancels it if it takes longer than `time`.
fn in_time<O: Operation<Input = Octal>>(
    input: &Octal,
    start: O::Start,
    time: Duration,
    selection: &Selection,
) -> Result<Ended<O::Output>, Failure> {
    let kernel = selection.kernel_for::<O, _>(input, input.limit(), |limit| Octal::new(input.code(), limit))?;
    let run = interrupt::run(selection.threads());
    let _monitor = Monitor::of_time(format!("survey: {}", input.code()), time);
    let clock = Clock::for_threads(selection.threads());
    let begin = clock.now();
    let found = cancelled_after(time, &run, || kernel.run_from(start, input, &run));
    Ok(Ended { found, kernel: kernel.def().name, time: clock.now() - begin })
}

/// Does `work`, and cancels `run` if it takes longer than `time`.
fn cancelled_after<T>(time: Duration, run: &Run, work: impl FnOnce() -> T) -> T {
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
