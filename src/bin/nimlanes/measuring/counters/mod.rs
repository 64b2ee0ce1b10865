//! Events of a kernel per unit of work: instructions, cycles and misses by the counters of the CPU ([`hardware`]), which many virtual
//! machines do not have, or instructions, one by one ([`steps`]).
#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(dead_code, unused_imports, reason = "other systems count less, or nothing")
)]

#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64")))]
pub mod hardware;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod steps;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::slice;

use nimlanes::kernel::session::Session;
use nimlanes::kernel::{Run, RunError};
use serde::Serialize;

use crate::terminal::output::headed;

/// The counted events, by the name of their field, and the heading of their column.
const COUNTED: [(&str, &str); 8] = [
    (INSTRUCTIONS, INSTRUCTIONS),
    (CYCLES, CYCLES),
    (IPC, "IPC"),
    (BRANCH_MISSES, "branch misses"),
    (L1_MISSES, "L1d misses"),
    (BRANCHES, BRANCHES),
    (LOADS, LOADS),
    (STORES, STORES),
];
const INSTRUCTIONS: &str = "instructions";
const CYCLES: &str = "cycles";
const IPC: &str = "instructions_per_cycle";
const BRANCH_MISSES: &str = "branch_misses";
const L1_MISSES: &str = "l1d_misses";
/// With calls and returns.
const BRANCHES: &str = "branches";
/// Instructions that read memory.
const LOADS: &str = "loads";
/// Instructions that write to memory.
const STORES: &str = "stores";

/// A source of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The counters of the CPU
    Hardware,
    /// Single steps of one run on one thread: exact, but only instructions
    Steps,
}

/// Numbers of events, by name. Events that could not be counted are missing.
type Counts = BTreeMap<&'static str, f64>;

/// The counts of some kernels.
#[derive(Clone, Debug, Serialize)]
pub struct Counters {
    counted_by: Source,
    /// The unit of work.
    unit: &'static str,
    /// A row for each kernel.
    rows: Vec<CountedKernel>,
}

/// The counts of one kernel.
#[derive(Clone, Debug, Serialize)]
struct CountedKernel {
    kernel: &'static str,
    /// Number of runs that were counted.
    runs: u64,
    /// Per unit of work, in user space.
    #[serde(flatten)]
    counts: Counts,
    /// Of single steps: bytes of the instructions that a run executes, each counted once, which take room in the cache of instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    code_bytes: Option<u64>,
    /// Of single steps: the loop with the most instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    hot_loop: Option<Loop>,
}

/// A loop of machine code.
#[derive(Clone, Debug, Serialize)]
struct Loop {
    /// Its share of all instructions that were executed, from 0 to 1.
    share: f64,
    /// Conditional jumps in it that leave it, and never did in this run: checks of bounds and of overflow are such.
    checks: usize,
    instructions: Vec<Executed>,
}

/// An instruction of a loop.
#[derive(Clone, Debug, Serialize)]
struct Executed {
    /// How often it was executed, per unit of work.
    times: f64,
    /// In the syntax of the GNU assembler.
    text: String,
}

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// It is not possible here.
    #[error("{0}")]
    Impossible(String),
    /// There are too many single steps.
    #[error("a run has too many branches for single steps; a smaller --size has fewer")]
    TooLong,
    /// The kernel failed, or the run was cancelled.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl CountError {
    fn because(why: impl Display) -> Self {
        CountError::Impossible(why.to_string())
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
    let mut reasons = Vec::new();
    for &counted_by in source.as_ref().map_or(&[Source::Hardware, Source::Steps][..], slice::from_ref) {
        let what = match counted_by {
            Source::Hardware => "counters of the CPU",
            Source::Steps => "single steps",
        };
        match rows(session, kernels, counted_by, run, announce) {
            Ok(rows) => return Ok(Some(Counters { counted_by, unit: session.unit(), rows })),
            Err(CountError::Run(error)) => return Err(error),
            Err(error) => reasons.push(format!("no {what} here: {error}")),
        }
    }
    announce(&reasons.join("; "));
    Ok(None)
}

/// Rows of the kernels whose runs have few enough branches for single steps; `announce` receives the others.
fn rows(
    session: &dyn Session,
    kernels: &[usize],
    source: Source,
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Vec<CountedKernel>, CountError> {
    let mut rows = Vec::new();
    for &kernel in kernels {
        let row = match source {
            #[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64")))]
            Source::Hardware => hardware::row(session, kernel, run),
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            Source::Steps => steps::row(session, kernel, run),
            #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
            _ => Err(CountError::because("they need Linux, and single steps x86-64")),
        };
        match row {
            Err(error @ CountError::TooLong) => announce(&format!("{}: {error}", session.kernels()[kernel].name)),
            row => rows.push(row?),
        }
    }
    Ok(rows)
}

/// The counts of so many units of work, for each, with the instructions of a cycle.
fn per_unit(total: &Counts, units: f64) -> Counts {
    let mut counts: Counts = total.iter().map(|(name, count)| (*name, count / units)).collect();
    let cycles = total.get(CYCLES).filter(|cycles| **cycles > 0.0);
    let ratio = total.get(INSTRUCTIONS).zip(cycles).map(|(instructions, cycles)| instructions / cycles);
    counts.extend(ratio.map(|ratio| (IPC, ratio)));
    counts
}

impl Counters {
    /// A table of what was counted; for a single kernel also its hot loop, if that is known.
    pub fn text(&self) -> String {
        let by = match self.counted_by {
            Source::Hardware => "by the CPU in user space",
            Source::Steps => "step by step, in one run on one thread",
        };
        let hot_loop = match &self.rows[..] {
            [CountedKernel { hot_loop: Some(hot_loop), .. }] => hot_loop.text(self.unit),
            _ => String::new(),
        };
        // Only what was counted has a column.
        let is_counted = |(name, _): &(&str, &str)| self.rows.iter().any(|row| row.counts.contains_key(name));
        let columns: Vec<_> = COUNTED.into_iter().filter(is_counted).collect();
        let heads = ["kernel"].into_iter().chain(columns.iter().map(|(_, head)| *head));
        let rows = self.rows.iter().map(|CountedKernel { kernel, counts, .. }| {
            let cell = |name: &str| counts.get(name).map_or("–".to_owned(), |count| figure(*count));
            [(*kernel).to_owned()].into_iter().chain(columns.iter().map(|(name, _)| cell(name))).collect::<Vec<_>>()
        });
        format!("\ncounted {by}, per {}\n\n{}{hot_loop}", self.unit, headed(heads, rows))
    }
}

impl Loop {
    fn text(&self, unit: &str) -> String {
        let rows = self.instructions.iter().map(|it| [figure(it.times), it.text.clone()]);
        let listed = headed([&*format!("per {unit}"), "instruction"], rows);
        format!("\nhot loop, {:.0} % of the instructions\n\n{listed}", 100.0 * self.share)
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

    #[test]
    fn counts_are_per_unit_of_work() {
        let counts = per_unit(&Counts::from([(INSTRUCTIONS, 1500.0), (CYCLES, 500.0)]), 500.0);
        assert_eq!(counts, Counts::from([(INSTRUCTIONS, 3.0), (CYCLES, 1.0), (IPC, 3.0)]));
        let counts = Counts::from([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]);
        assert_eq!(per_unit(&counts, 1.0), counts, "no cycles");
    }

    #[test]
    fn only_what_was_counted_has_a_column() {
        let row = |kernel, counts| CountedKernel { kernel, runs: 1, counts, code_bytes: None, hot_loop: None };
        let old = row("old", Counts::from([(INSTRUCTIONS, 1234.0), (CYCLES, 617.0), (L1_MISSES, 0.00123)]));
        let rows = vec![old, row("new", Counts::from([(INSTRUCTIONS, 12.34)]))];
        let want = "\ncounted by the CPU in user space, per heap\n\n\
            kernel  instructions  cycles  L1d misses\n\
            old             1234     617      0.0012\n\
            new             12.3       –           –\n";
        assert_eq!(Counters { counted_by: Source::Hardware, unit: "heap", rows }.text(), want);
    }
}
