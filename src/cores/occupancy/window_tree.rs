//! The tally alone, from windows of heaps far apart: see [`super::windows`].
//!
//! Idea: what happens near a heap depends on marks near five scaled places and on one number. So a window of heaps needs
//! five windows further down, and so on to a base in which every heap is visited. Each of several threads takes the next window as
//! soon as all windows that it reads have ended, which lie below seven tenths of its heaps; one thread runs the base.
//!
//! Observed, not proved: a window that begins with a guess reaches the true registers within its warm-up.
//! Cost: about `590 sqrt(M)` heaps up to `10^13`, more further on; a step of the tier's automaton for each.
//! Bound: as `automaton` at the same tier, on each thread; on several threads up to `10^9` the base.

use super::windows::{LEAST, Loops, cost_on, drive};
use super::{Positions, ProportionateNim, charged_threads, streaming};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: ns of a heap, and, for limits without windows, of a unit of the limit.
pub fn cost(input: &ProportionateNim, context: CostContext, [heap, unit]: [f64; 2]) -> Cost {
    match context {
        CostContext { is_parallel: true, .. } if input.limit() < LEAST => charged_threads::cost(input, context, [unit]),
        CostContext { is_parallel: true, threads: 1, .. } => Cost::IMPOSSIBLE,
        _ if input.limit() < LEAST => streaming::cost(input, unit),
        _ => cost_on(input, heap, context.threads),
    }
}

pub fn run(input: &ProportionateNim, run: &Run, threads: usize, loops: Loops) -> Result<Positions, RunError> {
    match threads {
        _ if input.limit() >= LEAST => drive(input, run, threads, loops),
        1 => streaming::drive(input, run, &loops.of_tapes),
        _ => charged_threads::run(input, run, loops.of_tapes),
    }
}
