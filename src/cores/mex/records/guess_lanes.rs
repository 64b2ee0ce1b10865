//! Blocks guessed and verified in lanes, in plain Rust. See `guess`.
//!
//! Cost of a right block: for each move, the decode of [`byte_lanes`](crate::cores::mex::subtraction) to one plane.
//! Bound: the decode.

use super::guess::{self, Guessed, settle_in_memory};
use super::layout::Layout;
use super::ring::{LaneBlocks, drive};
use super::{Output, Records, Start, ring_lanes};
use crate::cores::mex::lanes::plain::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost(input, ring_lanes::cost(input, context), 0.1)
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    run_over(Layout::new(input), input, run, start)
}

/// [`run`] over a history of this layout.
#[inline(always)]
pub fn run_over(layout: Layout, input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    let computed = LaneBlocks::new(input, &layout, accumulate, free_words);
    drive(
        input,
        layout,
        run,
        start,
        Guessed::new(input, &layout, 1, computed, accumulate, |pattern, evidence, guess| {
            settle_in_memory(accumulate, pattern, evidence, guess)
        }),
    )
}
