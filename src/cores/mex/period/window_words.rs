//! A window of the last values, in plain words: see [`super::stream`] and `mex_octal`'s `window_words`.
//!
//! Cost per heap: a shift and an OR for each rare heap and each head.
//! Bound: these operations.

use super::super::octal::window::words::loops;
use super::super::octal::{Octal, greedy, sparse_lanes};
use super::{Census, Start, stream};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    stream::cost(input, 60.0, 20.0)
}

pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    stream::stream(input, run, start, &sparse_lanes::parts(Some(greedy::WORTH)), loops())
}
