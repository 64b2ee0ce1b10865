//! Shifted rows of residue classes, in plain Rust: see [`super::classes`].
//!
//! Cost per move and line of 512 heaps that is not covered: as in [`super::shifted_rows`].
//! Bound: these loads and stores; where few moves are left, the search for P-positions in the blocks of many classes.

use super::checkpoint::Start;
use super::{Zeros, classes, shifted_rows};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};

pub fn cost(input: &Zeros, context: CostContext) -> Cost {
    classes::cost(input, if context.tier == Tier::Portable { 0.95 } else { 0.68 })
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    classes::drive(input, run, start, shifted_rows::carry)
}
