//! Blocks guessed and verified in lanes, decoded by byte permutes. See `guess`.
//!
//! Cost of a right block: for each move, a load, a permute and half an OR.
//! Bound: wrong blocks.

use std::arch::x86_64::*;

use super::guess::{self, Evidence, Guessed, Pattern, ROUNDS};
use super::layout::Layout;
use super::ring::{LaneBlocks, drive};
use super::{Output, Records, Start, ring_lanes_avx512};
use crate::cores::mex::lanes::avx512::{TABLES, Tables, accumulate, free_words};
use crate::cores::mex::lanes::{LANES, Planes, Sources, WINDOW, by_planes};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, store};

pub fn cost(input: &Records, context: CostContext) -> Cost {
    guess::cost(input, ring_lanes_avx512::cost(input, context), 0.02)
}

/// Settles a block in registers. Only the guess waits for the block before, for one permute.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512bitalg")]
fn settle(tables: &Tables, pattern: &Pattern, evidence: Evidence, codes: &mut [u8; LANES]) -> bool {
    let lookup = load(&tables.lookup[0]);
    let one = _mm512_set1_epi8(1);
    let guess = _mm512_permutexvar_epi8(load(&pattern.repeat), load(evidence.repeated));
    store(codes, guess);
    let [second, last, mut own] =
        [load(evidence.before[1]), load(evidence.before[0]), guess].map(|codes| _mm512_permutexvar_epi8(codes, lookup));
    // In memory, these would be read across two stores, which no processor forwards.
    let reached = |all, indices| _mm512_or_si512(all, _mm512_permutex2var_epi8(second, load(indices), last));
    let far = pattern.reached_before.iter().fold(load(evidence.far), reached);
    for round in 0..ROUNDS {
        let reached = |all, indices| _mm512_or_si512(all, _mm512_permutex2var_epi8(last, load(indices), own));
        let reached = pattern.reached.iter().fold(far, reached);
        let mex = _mm512_andnot_si512(reached, _mm512_add_epi8(reached, one));
        if _mm512_cmpneq_epi8_mask(mex, own) == 0 {
            if round > 0 {
                let values = _mm512_popcnt_epi8(_mm512_sub_epi8(own, one));
                store(codes, _mm512_sub_epi8(_mm512_set1_epi8(WINDOW as i8), values));
            }
            return _mm512_testn_epi8_mask(own, own) == 0;
        }
        own = mex;
    }
    false
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512bitalg")]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    run_over(Layout::new(input), input, run, start)
}

/// [`run`] over a history of this layout.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512bitalg")]
pub fn run_over(layout: Layout, input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    let tables = std::hint::black_box(&TABLES);
    let reached = |from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]| {
        by_planes!(planes, accumulate(tables, from, moves, hits))
    };
    let computed = LaneBlocks::new(input, &layout, reached, |hits: &Planes, free: &mut _| free_words(hits, free));
    drive(
        input,
        layout,
        run,
        start,
        Guessed::new(input, &layout, 2, computed, reached, |pattern, evidence, guess| {
            settle(tables, pattern, evidence, guess)
        }),
    )
}
