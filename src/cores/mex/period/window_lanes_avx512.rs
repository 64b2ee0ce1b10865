//! A window of the last values, in byte lanes: see [`super::stream`] and `mex_octal`'s `window_lanes_avx512`.
//!
//! Cost per block: a few operations for each rare heap and each head, and for each heap and near move.
//! Bound (Zen 5): the chain through near moves, then the permutes.

use super::super::octal::window::avx512::loops;
use super::super::octal::{Octal, greedy, sparse_lanes_avx512};
use super::{Census, Start, stream};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    stream::cost(input, 30.0, 4.0)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    stream::stream(input, run, start, &sparse_lanes_avx512::parts(Some(greedy::WORTH)), loops())
}
