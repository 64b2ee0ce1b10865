//! Shifted rows of residue classes with 128-bit vectors: see [`super::classes`].
//!
//! Cost per move and line of 512 heaps that is not covered: as in [`super::shifted_rows_v128`].
//! Bound: these loads; where few moves are left, the search for P-positions in the blocks of many classes.

use super::checkpoint::Start;
use super::{Zeros, classes, shifted_rows_v128};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};

pub fn cost(input: &Zeros, context: CostContext) -> Cost {
    classes::cost(input, if context.tier == Tier::Neon { 0.55 } else { 1.0 })
}

pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    classes::drive(input, run, start, shifted_rows_v128::carry)
}
