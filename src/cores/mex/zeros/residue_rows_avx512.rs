//! Shifted rows of residue classes with 512-bit vectors: see [`super::classes`].
//!
//! Cost per move and line of 512 heaps that is not covered: as in [`super::shifted_rows_avx512`].
//! Bound (Zen 4): permutations and loads from L2; where few moves are left, the search for P-positions in the blocks of many
//! classes.

use super::checkpoint::Start;
use super::{Zeros, classes, shifted_rows_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Zeros, _: CostContext) -> Cost {
    classes::cost(input, 0.5)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512vbmi")]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    classes::drive(input, run, start, |row, at, back, hits| shifted_rows_avx512::carry(row, at, back, hits))
}
