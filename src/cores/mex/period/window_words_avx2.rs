//! `window_words`, compiled where each lane of a vector is shifted by its own count. The table is made by the
//! lanes of `sparse_lanes_avx2`.
//!
//! Cost and bound: as `window_words`, for four heaps at once.

use super::super::octal::window::words::loops_avx2;
use super::super::octal::{Octal, greedy, sparse_lanes_avx2};
use super::{Census, Start, stream};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    stream::cost(input, 55.0, 9.0)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    stream::stream(input, run, start, &sparse_lanes_avx2::parts(Some(greedy::WORTH)), loops_avx2())
}
