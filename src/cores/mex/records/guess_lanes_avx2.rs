//! Blocks guessed and verified in lanes, decoded by `vpshufb`. See `guess`.
//!
//! Cost of a right block: for each move and 32 heaps, a load, an addition, a lookup and an OR.
//! Bound: wrong blocks.

use super::guess::{self, Guessed, settle_in_memory};
use super::layout::Layout;
use super::ring::{LaneBlocks, drive};
use super::{Output, Records, Start, ring_lanes_avx2};
use crate::cores::mex::lanes::avx2::{accumulate, free_words};
use crate::cores::mex::lanes::{Planes, Sources, by_planes};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost(input, ring_lanes_avx2::cost(input, context), 0.05)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    run_over(Layout::new(input), input, run, start)
}

/// [`run`] over a history of this layout.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run_over(layout: Layout, input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    let reached = |from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]| {
        by_planes!(planes, accumulate(from, moves, hits))
    };
    let computed = LaneBlocks::new(input, &layout, reached, |hits: &Planes, free: &mut _| free_words(hits, free));
    drive(
        input,
        layout,
        run,
        start,
        Guessed::new(input, &layout, 1, computed, reached, |pattern, evidence, guess| {
            settle_in_memory(reached, pattern, evidence, guess)
        }),
    )
}
