//! What a kernel does per unit of work: instructions, cycles and misses by the counters of the CPU ([`hardware`]), which many virtual
//! machines do not have, or instructions by kind, one by one ([`steps`]).

mod bound;
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64"))),
    path = "no_hardware.rs"
)]
mod hardware;
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "no_steps.rs")]
pub mod steps;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{Error, ErrorKind};
use std::time::{Duration, Instant};

use nimlanes::cores::operation;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::{Selection, largest};
use nimlanes::kernel::session::Session;
use nimlanes::kernel::{Run, RunError};
use nimlanes::lab::clock::Clock;
use nimlanes::machine::Machine;
use serde::{Deserialize, Serialize};

use self::bound::nanoseconds_of_a_cycle;
use self::hardware::Hardware;
use crate::measuring::duel::repeats;
use crate::measuring::{loops, mca};
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{headed, table};

pub use self::bound::Bound;

/// What is counted, by the name of its field, and the heading of its column. Older files also have the energy of the package.
const COUNTED: [(&str, &str); 17] = [
    (INSTRUCTIONS, "instructions"),
    (CYCLES, "cycles"),
    (IPC, "IPC"),
    (BRANCH_MISSES, "branch misses"),
    (L1_MISSES, "L1d misses"),
    (L2_MISSES, "L2 misses"),
    (FREQUENCY, "GHz"),
    ("package_nanojoules", "package nJ"),
    (KINDS[0], KINDS[0]),
    (KINDS[1], KINDS[1]),
    (KINDS[2], KINDS[2]),
    (KINDS[3], KINDS[3]),
    (KINDS[4], KINDS[4]),
    (KINDS[5], KINDS[5]),
    (KINDS[6], KINDS[6]),
    (LOADS, LOADS),
    (STORES, STORES),
];
const INSTRUCTIONS: &str = "instructions";
const CYCLES: &str = "cycles";
const IPC: &str = "instructions_per_cycle";
const BRANCH_MISSES: &str = "branch_misses";
const L1_MISSES: &str = "l1d_misses";
const L2_MISSES: &str = "l2_misses";
const FREQUENCY: &str = "gigahertz";
/// The time in which the cycles were counted, which is not shown.
const TIME: &str = "nanoseconds";

/// Kinds of instructions, each of which is of one: branches, with calls and returns; those without vectors; those of vectors that
/// calculate, that work on bits, also by shifts, that rearrange lanes, that make or use masks, and that only load, store or copy.
const KINDS: [&str; 7] = ["branches", "scalar", "arithmetic", "logic", "shuffles", "masks", "moves"];
/// Instructions of any kind that read memory.
const LOADS: &str = "loads";
/// Instructions of any kind that write to memory.
const STORES: &str = "stores";

/// What counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The counters of the CPU
    #[default]
    Hardware,
    /// Single steps of one run on one thread: exact, but only instructions
    Steps,
}

/// Numbers of events, by name. What could not be counted is missing.
type Counts = BTreeMap<String, f64>;

/// The counts of some kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// What counted. Older files do not say it.
    #[serde(default)]
    counted_by: Source,
    /// The unit of work.
    unit: String,
    /// A row for each kernel.
    pub rows: Vec<Row>,
}

/// What kernels do on an input, on one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The input.
    #[serde(flatten)]
    pub case: Case,
    /// The counts.
    pub counters: Counters,
}

/// The counts of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// Number of runs that were counted.
    runs: u64,
    /// Per unit of work, in user space.
    #[serde(flatten)]
    counts: Counts,
    /// Bytes of the instructions that a run executes, each counted once: what takes room in the cache of instructions. By single steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_bytes: Option<u64>,
    /// The loop with the most instructions, by single steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hot_loop: Option<Loop>,
    /// What bounds it, by a simulation of instructions of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<Bound>,
    /// Why that is not known.
    #[serde(skip)]
    unbound: String,
}

/// What a run of single steps was.
pub struct Stepped {
    counts: Counts,
    code_bytes: u64,
    hot_loop: Option<Loop>,
    /// Instructions in the order in which they were executed, from all parts of the run.
    executed: Vec<loops::Instruction>,
}

/// A loop of machine code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// Its share of all instructions that were executed, from 0 to 1.
    share: f64,
    /// Conditional jumps in it that leave it, and never did in this run: checks of bounds and of overflow are such. Older files do not say.
    #[serde(default)]
    checks: usize,
    /// Its instructions.
    instructions: Vec<Executed>,
}

/// An instruction of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// How often it was executed, per unit of work.
    times: f64,
    /// In the syntax of the GNU assembler.
    text: String,
}

/// Why single steps did not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// They are not possible here.
    #[error("{0}")]
    Impossible(String),
    /// There are too many.
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code, reason = "there are none"))]
    #[error("a run has too many branches for single steps; a smaller --size has fewer")]
    TooLong,
    /// The kernel failed, or the run was cancelled.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl StepError {
    fn because(why: impl Display) -> Self {
        StepError::Impossible(why.to_string())
    }
}

impl Row {
    /// The counts of several runs, each of so many units of work.
    fn new(kernel: &str, runs: u64, work: u64, total: Counts) -> Self {
        let units = runs as f64 * work.max(1) as f64;
        let ratio = |of: &str, to: &str| Some(total.get(of)? / total.get(to).filter(|count| **count > 0.0)?);
        let mut counts: Counts = total.iter().map(|(name, count)| (name.clone(), count / units)).collect();
        counts.remove(TIME);
        counts.extend(ratio(INSTRUCTIONS, CYCLES).map(|ratio| (IPC.to_owned(), ratio)));
        counts.extend(ratio(CYCLES, TIME).map(|ratio| (FREQUENCY.to_owned(), ratio)));
        Row {
            kernel: kernel.to_owned(),
            runs,
            counts,
            code_bytes: None,
            hot_loop: None,
            bound: None,
            unbound: String::new(),
        }
    }
}

/// Counts what kernels of a session do, given by their indices: by `source`, else by the CPU, else by single steps. `None` if that
/// is not possible, for which `announce` receives the reason, as it does for kernels that are left out.
///
/// # Errors
/// A kernel failed, or the run was cancelled.
pub fn count(
    session: &dyn Session,
    kernels: &[usize],
    source: Option<Source>,
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Option<Counters>, RunError> {
    let counters = |counted_by, rows| Some(Counters { counted_by, unit: session.unit().to_owned(), rows });
    let mut reasons = Vec::new();
    if source != Some(Source::Steps) {
        match Hardware::open() {
            Ok(mut hardware) => {
                let row = |kernel: &usize| by_hardware(session, *kernel, run, &mut hardware);
                return Ok(counters(Source::Hardware, kernels.iter().map(row).collect::<Result<_, _>>()?));
            }
            Err(error) => reasons.push(format!("no counters of the CPU here: {}", why_not(&error))),
        }
    }
    if source != Some(Source::Hardware) {
        match by_steps(session, kernels, run, announce) {
            Ok(rows) => return Ok(counters(Source::Steps, rows)),
            Err(StepError::Run(error)) => return Err(error),
            Err(error) => reasons.push(format!("no single steps here: {error}")),
        }
    }
    announce(&reasons.join("; "));
    Ok(None)
}

fn why_not(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Unsupported => "the system offers none".to_owned(),
        ErrorKind::PermissionDenied => "perf_event_paranoid does not allow them".to_owned(),
        _ => error.to_string(),
    }
}

/// Runs a kernel once. Returns the time of the run, and its units of work.
fn once(session: &dyn Session, kernel: usize, run: &Run) -> Result<(Duration, u64), RunError> {
    let start = Instant::now();
    let answer = session.run(kernel, run)?;
    Ok((start.elapsed(), session.work(answer.as_ref())))
}

/// Runs a kernel often enough for counts with little noise.
fn by_hardware(session: &dyn Session, kernel: usize, run: &Run, hardware: &mut Hardware) -> Result<Row, RunError> {
    let (time, work) = once(session, kernel, run)?;
    let runs = repeats(time);
    let total = hardware.count(&mut || session.spin(kernel, run, runs))?;
    Ok(Row::new(session.kernels()[kernel].name, runs, work, total))
}

/// Rows of the kernels whose runs have few enough branches; `announce` is told of others.
fn by_steps(
    session: &dyn Session,
    kernels: &[usize],
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, StepError> {
    let mut rows = Vec::new();
    for kernel in kernels {
        match row_by_steps(session, *kernel, run) {
            Err(error @ StepError::TooLong) => announce(&format!("{}: {error}", session.kernels()[*kernel].name)),
            row => rows.push(row?),
        }
    }
    Ok(rows)
}

fn row_by_steps(session: &dyn Session, kernel: usize, run: &Run) -> Result<Row, StepError> {
    /// The best of so many timings counts.
    const TIMES: u32 = 5;
    let name = session.kernels()[kernel].name;
    let (time, work) = once(session, kernel, run)?;
    let (bar, mut watch) = Monitor::of_share(format!("single steps of {name}, at most"));
    let Stepped { counts, code_bytes, hot_loop, executed } = steps::count(session, kernel, time, run, &mut watch)?;
    drop(bar);
    let hot_loop = hot_loop.map(|it| it.per(work));
    let row = Row { code_bytes: Some(code_bytes), hot_loop, ..Row::new(name, 1, work, counts) };
    if let Err(unbound) = mca::model() {
        return Ok(Row { unbound, ..row });
    }
    let (clock, runs) = (Clock::for_runs(false).for_one_run(), repeats(time));
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let start = clock.now();
        session.spin(kernel, run, runs)?;
        best = best.min((clock.now() - start).as_secs_f64());
    }
    let cycles = best * 1e9 / (runs as f64 * work.max(1) as f64) / nanoseconds_of_a_cycle();
    Ok(match Bound::new(&executed, row.counts[INSTRUCTIONS], cycles) {
        Ok(bound) => Row { bound: Some(bound), ..row },
        Err(unbound) => Row { unbound, ..row },
    })
}

/// What a kernel does in one run, and what bounds it: on the input of a session, or at about the largest size below at which a run is
/// predicted to take at most `longest` and has few enough branches for single steps.
///
/// # Errors
/// `llvm-mca` or single steps are not possible here, the kernel failed, or the run was cancelled.
pub fn bound(session: &dyn Session, kernel: usize, mut longest: Duration, run: &Run) -> Result<Counted, StepError> {
    const SHORTEST: Duration = Duration::from_micros(1);
    mca::model().map_err(StepError::Impossible)?;
    loop {
        let session = shorter(session, &[kernel], longest)?;
        match row_by_steps(session.as_ref(), kernel, run) {
            Err(StepError::TooLong) if longest > SHORTEST => longest /= 2,
            row => {
                let rows = vec![Row { hot_loop: None, ..row? }];
                let counters = Counters { counted_by: Source::Steps, unit: session.unit().to_owned(), rows };
                return Ok(Counted { case: session.case().clone(), counters });
            }
        }
    }
}

/// A session of the same workload at the largest size, up to that of a session, at which a run of any of these kernels is predicted to
/// take at most this long on one thread.
///
/// # Errors
/// There is no session of that size.
pub fn shorter(session: &dyn Session, kernels: &[usize], most: Duration) -> Result<Box<dyn Session>, StepError> {
    let operation = operation(session.operation()).map_err(StepError::because)?;
    let selection = Selection::new(Machine::detect()).allow_long();
    let open = |size| operation.session(&selection, session.workload(), size);
    let most = most.as_nanos() as f64;
    let is_within = |session: &dyn Session| kernels.iter().all(|kernel| session.cost(*kernel, 1).ns <= most);
    let size = match session.case().size {
        size if is_within(session) => size,
        size => largest(size, |size| open(size).is_ok_and(|session| is_within(session.as_ref()))).max(1),
    };
    open(size).map_err(StepError::because)
}

impl Loop {
    fn per(mut self, work: u64) -> Self {
        self.instructions.iter_mut().for_each(|instruction| instruction.times /= work.max(1) as f64);
        self
    }

    fn text(&self, unit: &str) -> String {
        let share = 100.0 * self.share;
        let rows = self.instructions.iter().map(|it| [figure(it.times), it.text.clone()]);
        format!(
            "\nhot loop, {share:.0} % of the instructions\n\n{}",
            headed([&*format!("per {unit}"), "instruction"], rows)
        )
    }
}

impl Counted {
    /// What bounds the kernels on this input, or why that is not known.
    pub fn bound(&self) -> String {
        format!("at size {}, {}", self.case.size, self.counters.bound())
    }
}

impl Counters {
    /// A table of what was counted; for a single kernel also its hot loop, if that is known.
    pub fn text(&self) -> String {
        let by = match self.counted_by {
            Source::Hardware => "by the CPU in user space",
            Source::Steps => "step by step, in one run on one thread",
        };
        let more = match &self.rows[..] {
            [Row { hot_loop, .. }] if self.counted_by == Source::Steps => {
                let hot_loop = hot_loop.as_ref().map_or(String::new(), |it| it.text(&self.unit));
                format!("{hot_loop}\n{}", self.bound())
            }
            _ => String::new(),
        };
        format!("\ncounted {by}, per {}\n\n{}{more}", self.unit, table(self.lines()))
    }

    /// What bounds each kernel, or why that is not known.
    fn bound(&self) -> String {
        let line = |row: &Row| match &row.bound {
            Some(bound) => bound.text(&self.unit),
            None => format!("{}\n", row.unbound),
        };
        self.rows.iter().map(line).collect()
    }

    /// The rows of a table, the first of them its heading. Only what was counted has a column, after that of the kernels.
    fn lines(&self) -> Vec<Vec<String>> {
        let is_counted = |(name, _): &&(&str, &str)| self.rows.iter().any(|row| row.counts.contains_key(*name));
        let columns: Vec<_> = COUNTED.iter().filter(is_counted).collect();
        let heads = columns.iter().map(|(_, head)| (*head).to_owned());
        let head = ["kernel".to_owned()].into_iter().chain(heads).collect();
        let rows = self.rows.iter().map(|Row { kernel, counts, .. }| {
            let cells =
                columns.iter().map(|(name, _)| counts.get(*name).map_or("–".to_owned(), |count| figure(*count)));
            [kernel.clone()].into_iter().chain(cells).collect()
        });
        [head].into_iter().chain(rows).collect()
    }
}

/// A number with three significant digits, but all of those before the point, and at most four after it.
fn figure(count: f64) -> String {
    let places = match count {
        0.1..1.0 => 3,
        1.0..10.0 => 2,
        10.0..100.0 => 1,
        100.0.. => 0,
        _ => 4,
    };
    format!("{count:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts<const N: usize>(list: [(&str, f64); N]) -> Counts {
        list.map(|(name, count)| (name.to_owned(), count)).into()
    }

    #[test]
    fn counts_are_per_unit_of_work() {
        let row = Row::new("stamp", 10, 50, counts([(INSTRUCTIONS, 1500.0), (CYCLES, 500.0), (TIME, 200.0)]));
        assert_eq!(row.counts, counts([(INSTRUCTIONS, 3.0), (CYCLES, 1.0), (IPC, 3.0), (FREQUENCY, 2.5)]));
        let row = Row::new("stamp", 1, 0, counts([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]));
        assert_eq!(row.counts, counts([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]), "no work and no cycles");
    }

    /// Files of older versions say more.
    #[test]
    fn only_what_was_counted_has_a_column() {
        let old = r#"{"source": "hardware", "unit": "heap", "skipped": [], "rows": [
            {"kernel": "old", "runs": 1, "instructions": 1234.0, "cycles": 617.0, "l2_misses": 0.00123, "package_nanojoules": 5.0},
            {"kernel": "new", "runs": 1, "instructions": 12.34}
        ]}"#;
        let counters: Counters = serde_json::from_str(old).unwrap();
        let want = "\ncounted by the CPU in user space, per heap\n\n\
            kernel  instructions  cycles  L2 misses  package nJ\n\
            old             1234     617     0.0012        5.00\n\
            new             12.3       –          –           –\n";
        assert_eq!(counters.text(), want);
    }
}
