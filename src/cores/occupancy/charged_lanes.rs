//! Eight automata in the lanes of a vector, each in a segment of its own: see [`super::streaming::segments`].
//!
//! Idea: one automaton waits for its chain, and eight together wait no longer. A step has twelve vector operations for
//! eight heaps; registers are collected from eight rows and spread to eight rows once in sixteen steps. Each segment
//! begins from a guess with the right charge, 2048 heaps before the first that counts. Spans are those of
//! [`loops::avx512`](super::loops::avx512).
//!
//! Cost: less than half of the time of `automaton_asm` for the blocks, and about as much again for spans.
//! Bound: vector operations, two a cycle; then the spans.

use super::loops::avx512::parts;
use super::streaming::lanes::{self, InLanes, LANES, blocks};
use super::streaming::segments;
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: ns of a unit of the limit, of one automaton while segments would be too short, and of eight.
pub fn cost(input: &ProportionateNim, context: CostContext, rates: [f64; 2]) -> Cost {
    let Cost { ns, bytes } = segments::cost(input, [LANES, context.threads], rates);
    let bytes = bytes + context.threads as f64 * lanes::bytes();
    match context.threads {
        1 if context.is_parallel => Cost::IMPOSSIBLE,
        // What segments find on several threads is counted with the output.
        1 => Cost { ns, bytes: bytes + segments::together(input, LANES) },
        _ => Cost { ns, bytes },
    }
}

#[inline]
#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run(input: &ProportionateNim, run: &Run, threads: usize) -> Result<Positions, RunError> {
    let runner = InLanes {
        loops: parts(),
        blocks: |automata, found| match found.has_picks() {
            true => blocks::<true>(automata, found),
            false => blocks::<false>(automata, found),
        },
        lower: |found| found.lower(),
    };
    segments::drive(input, run, threads, &runner)
}
