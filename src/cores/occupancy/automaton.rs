//! The streaming register automaton: see [`super::streaming`], and [`super::loops`] for what tiers do in their own way.
//!
//! Cost: one step for each `n`, of about twenty instructions in plain Rust and fifteen in assembly; preparing and settling spans
//! adds a quarter, and to assembly more than half.
//! Bound: one serial chain through the lowest zero of four registers, then the number of instructions.

use super::streaming::{CHAIN, Loops, cost as cost_of, drive};
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rate: ns of a unit of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [unit]: [f64; 1]) -> Cost {
    cost_of(input, unit)
}

/// The chain of the steps: see [`super::streaming`].
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: CHAIN, ..Needs::default() }
}

pub fn run(input: &ProportionateNim, run: &Run, loops: Loops) -> Result<Positions, RunError> {
    drive(input, run, &loops)
}
