//! [`super::near_sum`] with cells of 32 bits, compiled as a whole: for each tier, or with parts in C.
//!
//! Cost: as of [`super::near_sum_avx2`], with an operation or two more for each register: what a shift leaves out is compared.
//! Bound: the vector ports. SSE2 has no shift by lanes.

use super::Split;
use super::near_sum::cost_of;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Cells that are filled up to: those of a register of AVX2.
const CELLS: usize = 8;

/// Rates: as in [`near_sum`](super::near_sum::cost).
pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
    cost_of::<u32, CELLS>(input, rates)
}

/// The whole kernel, as a part.
pub trait Compiled: Fn(&Split, &Run) -> Result<Vec<u32>, RunError> {}

impl<F: Fn(&Split, &Run) -> Result<Vec<u32>, RunError>> Compiled for F {}

#[inline(always)]
pub fn run(input: &Split, run: &Run, compiled: impl Compiled) -> Result<Vec<u32>, RunError> {
    compiled(input, run)
}
