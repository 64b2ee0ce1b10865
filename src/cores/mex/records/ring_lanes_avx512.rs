//! Lanes over a history, decoded by byte permutes and shifts.
//!
//! Cost: for each far move and 64 heaps, a load, plus a decode and half an OR per eight values; a chain of two operations per
//! heap.
//! Bound: the chain. If a far move is shorter than two blocks, a block's far part waits for the codes of the previous block.

use super::ring;
pub use super::ring_lanes::needs;
use super::{Output, Records, Start};
use crate::cores::mex::lanes::avx512::{TABLES, accumulate, free_words};
use crate::cores::mex::lanes::by_planes;
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, _: CostContext) -> Cost {
    ring::cost_lanes(input, 1.0, 0.02)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    let tables = std::hint::black_box(&TABLES);
    ring::drive_lanes(
        input,
        run,
        start,
        |from, moves, planes, hits| by_planes!(planes, accumulate(tables, from, moves, hits)),
        |hits, free| free_words(hits, free),
    )
}
