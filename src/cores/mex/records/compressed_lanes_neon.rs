//! Blocks guessed and verified in lanes, decoded by `tbl`, over a compressed history. See `guess` and `frames`.
//!
//! Cost of a right block: that of [`guess_lanes_neon`]; for each move beyond the window and 64 heaps, two bits and a copy.
//! Bound: as there.

use super::layout::Layout;
use super::{Output, Records, Start, guess, guess_lanes_neon};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost_packed(input, |input| guess_lanes_neon::cost(input, context))
}

#[target_feature(enable = "neon")]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    guess_lanes_neon::run_over(Layout::packed(input), input, run, start)
}
