//! [`super::sparse_lanes_avx512`] with moves that are chosen, as in `greedy`.
//!
//! Cost per block: `P + 15` operations for about half of the rare heaps, and eleven for each other heap and round of questions.
//! Bound (Zen 4): the vector ports.

use super::drive::{self, Alone};
use super::greedy::WORTH;
use super::sparse_lanes_avx512::{NS, parts};
use super::{Octal, Start};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    drive::cost(input, 0.7 * NS)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(WORTH)), &mut Alone)
}
