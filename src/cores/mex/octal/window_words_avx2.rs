//! `window_words`, compiled where each lane of a vector is shifted by its own count. Outside of windows, the lanes of
//! `sparse_lanes_avx2`.
//!
//! Cost and bound: as `window_words`, for four heaps at once.

use super::sparse_lanes_avx2::parts;
use super::window::{self, steps::Windowed, words::loops_avx2};
use super::{Octal, Start, drive, greedy, greedy_avx2};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    window::cost(greedy_avx2::cost(input, context), input)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(greedy::WORTH)), &mut Windowed::new(loops_avx2()))
}
