//! The tally alone, from windows of heaps far apart: see [`super::windows`].
//!
//! Idea: what happens near a heap depends on marks near five scaled places and on one number. So a window of heaps needs
//! five windows further down, and so on to a base in which every heap is visited.
//!
//! Observed, not proved: a window that begins with a guess reaches the true registers within its warm-up.
//! Cost: about `590 sqrt(M)` heaps up to `10^13`, more further on; a step of about twenty instructions for each.
//! Bound: as `automaton`, one serial chain and the number of instructions.

use super::streaming::Plain;
use super::windows::{cost as cost_of, drive};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    cost_of(input, 4.6)
}

#[inline(always)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    drive(input, run, 1, sink, Plain, |shared| shared.work(Plain))
}
