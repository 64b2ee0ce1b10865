//! Byte lanes in plain Rust: arithmetic on arrays of 64 bytes gives the one-hot bits of each plane.
//!
//! Cost per block, move and plane: a handful of byte operations on 64 lanes. The number of instructions depends on how the
//! compiler vectorises the loops.
//! Bound: these operations.

use super::Subtraction;
use super::drive;
use crate::cores::mex::lanes::plain::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    drive::cost(input, 2.6, 2.6, 2.5)
}

/// A comparison, an AND and an OR for each move and plane of 64 heaps.
pub fn needs(input: &Subtraction) -> Needs {
    Needs { logic: 3.0 * drive::planes(input), ..Needs::default() }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, accumulate, free_words)
}
