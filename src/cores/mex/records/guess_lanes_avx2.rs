//! Blocks guessed and verified in lanes, decoded by `vpshufb`. See `guess`.
//!
//! Cost of a right block: for each move and 32 heaps, a load, an addition, a lookup and an OR.
//! Bound: wrong blocks.

use super::layout::Layout;
use super::{Output, Records, Start, guess, ring_lanes_avx2};
use crate::cores::mex::lanes::avx2::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost(input, ring_lanes_avx2::cost(input, context), 0.05)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    run_over(Layout::new(input), input, run, start)
}

/// [`run`] over a history of this layout.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run_over(layout: Layout, input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    guess::drive_in_memory!((layout, input, run, start), accumulate, free_words)
}
