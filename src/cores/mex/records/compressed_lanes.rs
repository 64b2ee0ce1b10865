//! Blocks guessed and verified in lanes, over a compressed history. See `guess` and `frames`.
//!
//! Cost of a right block: that of [`guess_lanes`]; for each move beyond the window and 64 heaps, two bits and a copy.
//! Bound: as there.

use super::guess::Parts;
use super::layout::Layout;
use super::{Output, Records, Start, guess, guess_lanes};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: those of [`guess_lanes`].
pub fn cost(input: &Records, context: CostContext, rates: [f64; 3]) -> Cost {
    guess::cost_packed(input, |input| guess_lanes::cost(input, context, rates))
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start, parts: Parts) -> Result<Output, RunError> {
    guess_lanes::run_over(Layout::packed(input), input, run, start, parts)
}
