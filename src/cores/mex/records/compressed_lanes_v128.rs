//! Blocks guessed and verified in lanes, decoded by lookups in 16 bytes, over a compressed history. See `guess` and `frames`.
//!
//! Cost of a right block: that of [`guess_lanes_v128`]; for each move beyond the window and 64 heaps, two bits and a copy.
//! Bound: as there.

use super::layout::Layout;
use super::{Output, Records, Start, guess, guess_lanes_v128};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost_packed(input, |input| guess_lanes_v128::cost(input, context))
}

pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    guess_lanes_v128::run_over(Layout::packed(input), input, run, start)
}
