//! A window of the last values, in plain words: see [`super::stream`] and `mex_octal`'s `window_words`.
//!
//! Cost per heap: a shift and an OR for each rare heap and each head.
//! Bound: these operations.

use super::super::octal::window::words::Plain;
use super::super::octal::{Octal, greedy, sparse_lanes};
use super::{Census, Start, stream};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    stream::cost(input, if context.tier == Tier::Portable { 25.0 } else { 15.0 })
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    stream::stream(input, run, start, &sparse_lanes::parts(Some(greedy::WORTH)), &Plain)
}
