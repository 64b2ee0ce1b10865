//! The automaton in segments, shared among the threads: see [`super::streaming::segments`].
//!
//! Idea: the chain of the automaton cannot be made shorter, but a run may begin anywhere from a guess with the right
//! charge, because it soon reaches the states of the true run. States are compared where segments join.
//!
//! Cost: that of the automaton, divided; each segment has a warm-up of 3072 heaps before up to 262144 that count.
//! Bound: as `automaton` at the same tier, on each thread.

use super::streaming::{Loops, segments};
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rate: that of the automaton.
pub fn cost(input: &ProportionateNim, context: CostContext, [unit]: [f64; 1]) -> Cost {
    match context.threads {
        1 => Cost::IMPOSSIBLE,
        threads => segments::cost(input, [1, threads], [unit; 2]),
    }
}

pub fn run(input: &ProportionateNim, run: &Run, loops: Loops) -> Result<Positions, RunError> {
    segments::drive(input, run, run.threads(), &loops)
}
