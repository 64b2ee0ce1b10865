//! Lanes over a history, decoded by lookups in 16 bytes.
//!
//! Cost: for each far move and 16 heaps, half a subtraction, a lookup and an OR per eight values; a chain of two operations per
//! heap.
//! Bound: the chain and what it waits for.

use super::ring;
use super::{Output, Records, Start};
use crate::cores::mex::lanes::by_planes;
use crate::cores::mex::lanes::v128::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, _: CostContext) -> Cost {
    ring::cost_lanes(input, 1.5, 0.12)
}

pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    ring::drive_lanes(
        input,
        run,
        start,
        |from, moves, planes, hits| by_planes!(planes, accumulate(from, moves, hits)),
        free_words,
    )
}
