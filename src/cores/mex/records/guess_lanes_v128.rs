//! Blocks guessed and verified in lanes, decoded by lookups in 16 bytes. See `guess`.
//!
//! Cost of a right block: for each move and 16 heaps, a load, a subtraction, a lookup and an OR.
//! Bound: wrong blocks.

use super::layout::Layout;
use super::{Output, Records, Start, guess, ring_lanes_v128};
use crate::cores::mex::lanes::v128::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost(input, ring_lanes_v128::cost(input, context), 0.07)
}

pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    run_over(Layout::new(input), input, run, start)
}

/// [`run`] over a history of this layout.
pub fn run_over(layout: Layout, input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    guess::drive_in_memory!((layout, input, run, start), accumulate, free_words)
}
