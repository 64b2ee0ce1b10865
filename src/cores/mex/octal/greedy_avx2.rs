//! [`super::sparse_lanes_avx2`] with moves that are chosen, as in `greedy_avx512`.
//!
//! Cost and bound: as in `greedy_avx512`, with more operations for a move.

use super::drive::{self, Alone};
use super::greedy::WORTH;
use super::sparse_lanes_avx2::{NS, parts};
use super::{Octal, Start};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    drive::cost(input, 0.7 * NS)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(WORTH)), &mut Alone)
}
