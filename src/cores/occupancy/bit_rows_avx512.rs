//! `bit_rows` with 512 candidates at once. A vector of shifted words takes two loads, one word apart, and one funnel
//! shift (`vpshrdvq`).
//!
//! Cost: `0.3 M / 512` vectors of four rows for each of `0.24 M` positions.
//! Bound: loads. Nearly all straddle a cache line, so this is no quicker than half the width.

use std::arch::x86_64::{__m512i, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64, _mm512_shrdv_epi64};

use super::lines::scan;
use super::rows::{Rows, Shifted, Stretch, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, store};
use crate::simd::bits::{WORD, first_zero};

const BITS: usize = 512;
const WORDS: usize = BITS / WORD;

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(140.0 + 5.5 * limit + 0.00033 * limit * limit, bytes(input.limit()))
}

#[target_feature(enable = "avx512f,avx512vbmi2")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let vector = |words: &[u64], at: usize| load(words[at..at + WORDS].first_chunk::<WORDS>().expect("a whole vector"));
    let row = |Shifted { words, shift }: &Shifted, at: usize| -> __m512i {
        _mm512_shrdv_epi64(vector(words, at), vector(words, at + 1), _mm512_set1_epi64(*shift as i64))
    };
    let first_free = |Stretch { used, shifted: [a, b, c] }: &Stretch, at: usize| {
        let blocked =
            _mm512_or_si512(_mm512_or_si512(vector(used, at), row(a, at)), _mm512_or_si512(row(b, at), row(c, at)));
        let with_zeros = _mm512_cmpneq_epi64_mask(blocked, _mm512_set1_epi64(-1));
        if with_zeros == 0 {
            return BITS;
        }
        let word = with_zeros.trailing_zeros() as usize;
        let mut words = [0; WORDS];
        store(&mut words, blocked);
        word * WORD + first_zero(words[word])
    };
    scan(input, run, sink, |rows: &mut Rows, n, candidates| rows.scan::<WORDS>(n, *candidates.end(), first_free))
}
