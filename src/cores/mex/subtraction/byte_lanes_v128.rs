//! Byte lanes decoded by lookups in 16 bytes, 16 heaps at a time: see `lanes::v128`.
//!
//! Cost per 16 heaps, move and two planes: a subtraction, two lookups, two ORs.
//! Bound (llvm-mca, Neoverse V2): the four vector ports, 2.4 cycles for 64 heaps and a plane.

use super::Subtraction;
use super::drive;
use crate::cores::mex::lanes::by_planes;
use crate::cores::mex::lanes::v128::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    drive::cost(input, 0.9, 1.2, 2.0)
}

pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, |from, moves, planes, hits| by_planes!(planes, accumulate(from, moves, hits)), free_words)
}
