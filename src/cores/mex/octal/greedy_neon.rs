//! [`super::sparse_lanes_neon`] with moves that are chosen, as in `greedy`.
//!
//! Cost and bound: as there, with more operations for a move.

use super::drive::{self, Alone};
use super::greedy::WORTH;
use super::sparse_lanes_neon::{NS, parts};
use super::{Octal, Start};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    drive::cost(input, 0.7 * NS)
}

#[target_feature(enable = "neon")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(WORTH)), &mut Alone)
}
