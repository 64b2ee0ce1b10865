//! `bit_rows` with 512 candidates at once. A funnel shift is one instruction (`vpshrdvq`).
//!
//! Cost: `0.09 N / 512 + 1` windows for each of `0.18 N^2` visits.
//! Bound: at small `N` the bookkeeping of a visit, and each search reading what the one before it has just stored; then
//! loads, nearly all of which straddle a cache line.

use std::arch::x86_64::{__m512i, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64, _mm512_shrdv_epi64};

use super::bit_rows::{Words, bytes};
use super::layers::{Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, store};
use crate::simd::bits::{WORD, first_zero};

const WORDS: usize = 8;

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0008 * n * n * n + 3.9 * n * n, bytes: bytes(input) }
}

#[target_feature(enable = "avx512f,avx512vbmi2,bmi1")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    let funnel = |low: __m512i, high: __m512i, by: usize| _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(by as i64));
    let first = |forbidden: __m512i| {
        let with_zeros = _mm512_cmpneq_epi64_mask(forbidden, _mm512_set1_epi64(-1));
        if with_zeros == 0 {
            return WORDS * WORD;
        }
        let word = with_zeros.trailing_zeros() as usize;
        let mut words = [0; WORDS];
        store(&mut words, forbidden);
        word * WORD + first_zero(words[word])
    };
    let or = |a: __m512i, b: __m512i| _mm512_or_si512(a, b);
    scan(input, run, sink, |marks: &Words, visit: &Visit| {
        marks.shape.first_free(&marks.words, visit, |words: &[u64; WORDS]| load(words), or, funnel, first)
    })
}
