//! Byte lanes decoded by `vpshufb`, 32 heaps at a time: see `lanes::avx2`.
//!
//! Cost per 32 heaps and move: an exclusive OR; for two planes an addition, two lookups, two ORs.
//! Bound (Zen 4): four vector ports, 1.3 cycles for 64 heaps and a plane.

use super::Subtraction;
use super::drive;
use crate::cores::mex::lanes::avx2::{accumulate, free_words};
use crate::cores::mex::lanes::by_planes;
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    drive::cost(input, 0.44, 1.1, 1.4)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive::drive(
        input,
        run,
        |from, moves, planes, hits| by_planes!(planes, accumulate(from, moves, hits)),
        |hits, free| free_words(hits, free),
    )
}
