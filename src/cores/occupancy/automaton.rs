//! The streaming register automaton in 64-bit words of plain Rust: see [`super::streaming`].
//!
//! Cost: one step of about twenty instructions for each `n`; preparing and settling spans adds a quarter.
//! Bound: one serial chain through the lowest zero of four registers, then the number of instructions.

use super::streaming::{CHAIN, Plain, automaton_ns, cost as cost_of, drive};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError, Tier};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    cost_of(input, if context.tier == Tier::Portable { automaton_ns::PLAIN } else { 1.38 })
}

/// The chain of the steps: see [`super::streaming`].
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: CHAIN, ..Needs::default() }
}

#[inline(always)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    drive(input, run, sink, Plain)
}
