//! A [`window`] in byte lanes: what a move reaches is a permute of a table for each plane of eight codes. What
//! moves reach inside their block is found heap by heap, with shifts of words.
//!
//! Cost per block: `1 + 1.5 P` operations for each rare heap that is far and each head, `P` being two to five planes; three
//! for each heap and near move.
//! Bound (Zen 5): permutes and ternary operations for the heads, then the chain through near moves.

use super::drive;
use super::greedy::WORTH;
use super::sparse_lanes_avx512::parts;
use super::window::{avx512::loops, steps::Windowed};
use super::{Octal, Start, greedy_avx512, window};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    window::cost(greedy_avx512::cost(input, context), input)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(WORTH)), &mut Windowed::new(loops()))
}
