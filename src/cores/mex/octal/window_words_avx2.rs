//! `window_words`, compiled where each lane of a vector is shifted by its own count.
//!
//! Cost and bound: as `window_words`, for four heaps at once.

use super::sparse_lanes::parts;
use super::window::{steps::Windowed, words::loops_avx2};
use super::{Octal, Start, drive, greedy};
use crate::kernel::{Run, RunError};

pub use super::window_words::cost;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(greedy::WORTH)), &mut Windowed::new(loops_avx2()))
}
