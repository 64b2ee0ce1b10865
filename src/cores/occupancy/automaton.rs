//! The streaming register automaton in 64-bit words of plain Rust: see [`super::streaming`].
//!
//! Cost: one step for each `n`, of about twenty instructions; the rows of a span and its settling add a quarter.
//! Bound: one serial chain through the lowest zero of four registers, and after that the number of instructions.

use super::streaming::{CHAIN, Plain, cost as cost_of, drive};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError, Tier};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    cost_of(input, if context.tier == Tier::Portable { 1.84 } else { 1.38 })
}

/// The chain of the steps; see [`super::streaming`].
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: CHAIN, ..Needs::default() }
}

#[inline(always)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    drive(input, run, sink, Plain)
}
