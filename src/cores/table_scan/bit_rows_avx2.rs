//! `bit_rows` with 256 candidates at once. A funnel shift is two shifts and an OR.
//!
//! Cost: `0.09 N / 256 + 1` windows for each of `0.18 N^2` visits.
//! Bound: at small `N` the bookkeeping of a visit, and each search reading what the one before it has just stored; then
//! loads.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
};

use super::bit_rows::{Words, bytes};
use super::layers::{Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx2::{load, store};
use crate::simd::bits::{WORD, first_zero};

const WORDS: usize = 4;

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0009 * n * n * n + 3.7 * n * n, bytes: bytes(input) }
}

#[target_feature(enable = "avx2,bmi1")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    let funnel = |low: __m256i, high: __m256i, by: usize| {
        // A shift by 64 gives zero.
        let (down, up) = (_mm_cvtsi64_si128(by as i64), _mm_cvtsi64_si128((WORD - by) as i64));
        _mm256_or_si256(_mm256_srl_epi64(low, down), _mm256_sll_epi64(high, up))
    };
    let first = |forbidden: __m256i| {
        let full = _mm256_cmpeq_epi64(forbidden, _mm256_set1_epi64x(-1));
        let word = first_zero(_mm256_movemask_pd(_mm256_castsi256_pd(full)) as u64);
        if word == WORDS {
            return WORDS * WORD;
        }
        let mut words = [0; WORDS];
        store(&mut words, forbidden);
        word * WORD + first_zero(words[word])
    };
    let or = |a: __m256i, b: __m256i| _mm256_or_si256(a, b);
    scan(input, run, sink, |marks: &Words, visit: &Visit| {
        marks.shape.first_free(&marks.words, visit, |words: &[u64; WORDS]| load(words), or, funnel, first)
    })
}
