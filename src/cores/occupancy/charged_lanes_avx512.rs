//! Eight automata in the lanes of a vector, each in a segment of its own: see [`super::streaming::segments`].
//!
//! Idea: one automaton waits for its chain, and eight together wait no longer. A step has twelve vector operations for
//! eight heaps; registers are collected from eight rows and spread to eight rows once in sixteen steps. Each segment
//! begins from a guess with the right charge, 2048 heaps before the first that counts. Spans are those of
//! `automaton_avx512`.
//!
//! Cost: less than half of the time of `automaton_asm` for the blocks, and about as much again for spans.
//! Bound: vector operations, two a cycle; then the spans.

use super::streaming::lanes::{self, Found, InLanes, LANES, blocks};
use super::streaming::segments::{self, Plan, Runner};
use super::streaming::{Automaton, automaton_ns};
use super::{ProportionateNim, Sink, automaton_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let Cost { ns, bytes } = on_threads(input, 1);
    Cost { ns, bytes: bytes + segments::together(input, LANES) }
}

/// The cost on several threads, without the bytes of what segments find.
pub fn on_threads(input: &ProportionateNim, threads: usize) -> Cost {
    let Cost { ns, bytes } = segments::cost(input, [LANES, threads], [automaton_ns::AVX512, automaton_ns::LANES]);
    Cost { ns, bytes: bytes + threads as f64 * lanes::bytes() }
}

/// How segments run.
#[inline]
#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn runner() -> impl Runner + Sync {
    InLanes {
        inner: automaton_avx512::inner(),
        blocks: |automata: &mut [Automaton; LANES], found: &mut Found| match found.has_picks() {
            true => blocks::<true>(automata, found),
            false => blocks::<false>(automata, found),
        },
        lower: |found: &Found| found.lower(),
    }
}

#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let work = |shared: &segments::Shared<'_, S, _>| shared.work(runner());
    segments::drive(input, run, Plan::new::<S>(LANES, 1), sink, segments::charge, work).map(|(sink, _)| sink)
}
