//! The tally alone, from windows of heaps far apart.
//!
//! Unlike `automaton`, this visits few heaps. Marks near heap `n` depend on those near five scaled places (0.677, 0.658, 0.560, 0.383 and
//! 0.267 of `n`) and on the [slot balance](super::automaton::guess). So a window of heaps needs five windows further down, and so on to
//! a *base* in which every heap is visited ([`plan`]). A window begins with a guess of the registers that has the right balance, and
//! discards a long warm-up ([`window`]). It reads nothing above seven tenths of its heaps, so several run at the same time ([`tree`]);
//! one thread runs the base.
//!
//! Cost: about `590 sqrt(M)` heaps up to `10^13`, more further on; a step of the tier's automaton for each.
//! Bound: as `automaton` at the same tier, on each thread; on several threads up to `10^9` the base.
//!
//! # What is known
//! Proved: given the marks, all totals before a window ([`window::Prefix`]). All differences and values `2n - m` below the two mexes are
//! taken, and all heaps below `n` are used, so lower positions take all that upper positions and sums do not.
//!
//! Observed, not proved: a guess with the right balance reaches the true registers (it *couples*). At joints a second run from a guess of
//! its own must reach the same registers within a warm-up, and ends there. Up to limits of `10^15`, 310 847 of 310 847 did, after at
//! most 4096 of 8192 heaps. Two wrong runs that agree would not be noticed.
//!
//! The place of a window is not exactly known beforehand; margins allow for that. A window that reads past another ends the attempt, and
//! the next attempt has wider margins, which the answer states. No margin makes an answer wrong.

mod interval;
mod plan;
mod tree;
pub mod window;

use self::plan::Options;
use self::tree::attempt;
use self::window::{Failure, Joints, Loops};
use super::segments::charged_threads;
use super::{Positions, ProportionateNim, automaton};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

/// Smaller limits are left to the automaton: there are no windows.
const LEAST: u64 = 1_000_000;

/// Attempts, each with wider margins or a longer warm-up.
const ATTEMPTS: u64 = 4;

/// Why no attempt succeeded.
const NO_PLAN: &str = "the windows of the plan do not fit together, even with wide margins; use an exact kernel";

/// The cost on some threads, one of which takes `ns` nanoseconds per heap; the base is run by one. Heaps visited and bytes held at
/// once were measured up to limits of `10^15`.
fn cost_on(input: &ProportionateNim, ns: f64, threads: usize) -> Cost {
    let limit = input.limit() as f64;
    let heaps = (590.0 * limit.sqrt()).max(4.15e10 * (limit / 1e15).powf(0.66));
    // Up to some limit the base takes the greater part of the bytes; from there on it grows no more.
    let bytes = 3.5e5 + (4.6e6 * (limit.min(5e12) / 1e9).powf(0.44)).max(1.98e9 * (limit / 1e15).powf(0.61));
    let one = input.published_any_limit(ns * heaps, bytes);
    if threads == 1 || !one.is_possible() {
        return one;
    }
    let base = ns * Options::for_limit(input.limit()).base as f64;
    Cost {
        ns: base + 1.05 * (one.ns - base).max(0.0) / threads as f64,
        // A window that ends late is read late, too: observed.
        bytes: one.bytes + (threads - 1) as f64 * (STACK + 0.01 * one.bytes),
    }
}

/// Runs the tree on `threads` threads, for a limit of at least [`LEAST`], with the loops of a tier.
fn drive(input: &ProportionateNim, run: &Run, threads: usize, loops: Loops) -> Result<Positions, RunError> {
    let mut sink = input.sink();
    // A sink that takes positions one by one is outside the domain.
    let Some(tally) = sink.totals_alone() else { return Err(RunError::OutsideDomain) };
    let mut options = Options::for_limit(input.limit());
    let mut reported = 0;
    for widened in 0..ATTEMPTS {
        match attempt(input, &options, run, threads, &mut reported, loops) {
            Ok((found, joints)) => {
                *tally = found;
                run.observe(Joints { widened, ..joints }.into());
                run.advance(input.smaller_heaps() - reported)?;
                return Ok(sink);
            }
            Err(Failure::Run(error)) => return Err(error),
            Err(Failure::Missed) => options.margin *= 3.0,
            Err(Failure::Uncoupled) => options.warm_up *= 2,
        }
    }
    Err(RunError::GaveUp(NO_PLAN))
}

/// Rates: ns of a heap, and, for limits without windows, of a unit of the limit.
pub fn cost(input: &ProportionateNim, context: CostContext, [heap, unit]: [f64; 2]) -> Cost {
    match context {
        CostContext { is_parallel: true, .. } if input.limit() < LEAST => charged_threads::cost(input, context, [unit]),
        CostContext { is_parallel: true, threads: 1, .. } => Cost::IMPOSSIBLE,
        _ if input.limit() < LEAST => automaton::cost_of(input, unit),
        _ => cost_on(input, heap, context.threads),
    }
}

pub fn run(input: &ProportionateNim, run: &Run, threads: usize, loops: Loops) -> Result<Positions, RunError> {
    match threads {
        _ if input.limit() >= LEAST => drive(input, run, threads, loops),
        1 => automaton::drive(input, run, &loops.of_queues),
        _ => charged_threads::run(input, run, loops.of_queues),
    }
}
