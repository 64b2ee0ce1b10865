//! Blocks guessed and verified in lanes. See `guess`.
//!
//! Cost of a right block: for each move, the decode of the tier's [`lanes`](crate::cores::mex::lanes) to one plane.
//! Bound: in plain Rust, the decode; else wrong blocks.

use super::guess::{self, Guessed, Parts};
use super::layout::Layout;
use super::ring::drive;
use super::{Output, Records, Start, ring_lanes};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: those of [`ring_lanes`], and the ns of a move for a heap that is guessed.
pub fn cost(input: &Records, context: CostContext, [chain, step, guess]: [f64; 3]) -> Cost {
    guess::cost(input, ring_lanes::cost(input, context, [chain, step]), guess)
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start, parts: Parts) -> Result<Output, RunError> {
    run_over(Layout::new(input), input, run, start, parts)
}

/// [`run`] over a history of this layout.
#[inline(always)]
pub fn run_over(layout: Layout, input: &Records, run: &Run, start: Start, parts: Parts) -> Result<Output, RunError> {
    drive(input, layout, run, start, &mut Guessed::new(input, &layout, parts))
}
