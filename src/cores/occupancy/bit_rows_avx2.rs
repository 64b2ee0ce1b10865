//! `bit_rows` with 256 candidates at once. A vector of shifted words takes two loads, one word apart, and two shifts.
//!
//! Cost: `0.3 M / 256` vectors of four rows for each of `0.24 M` positions.
//! Bound: shifts (two and an OR for each row but one), then loads.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
};

use super::lines::scan;
use super::rows::{Rows, Shifted, Stretch, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx2::{load, store};
use crate::simd::bits::{WORD, first_zero};

const BITS: usize = 256;
const WORDS: usize = BITS / WORD;

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(140.0 + 5.0 * limit + 0.00034 * limit * limit, bytes(input.limit()))
}

#[target_feature(enable = "avx2,bmi1")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let vector = |words: &[u64], at: usize| load(words[at..at + WORDS].first_chunk::<WORDS>().expect("a whole vector"));
    let row = |Shifted { words, shift }: &Shifted, at: usize| -> __m256i {
        // A shift by 64 gives zero.
        let (down, up) = (_mm_cvtsi64_si128(*shift as i64), _mm_cvtsi64_si128((WORD - shift) as i64));
        _mm256_or_si256(_mm256_srl_epi64(vector(words, at), down), _mm256_sll_epi64(vector(words, at + 1), up))
    };
    let first_free = |Stretch { used, shifted: [a, b, c] }: &Stretch, at: usize| {
        let blocked =
            _mm256_or_si256(_mm256_or_si256(vector(used, at), row(a, at)), _mm256_or_si256(row(b, at), row(c, at)));
        let full = _mm256_cmpeq_epi64(blocked, _mm256_set1_epi64x(-1));
        let word = first_zero(_mm256_movemask_pd(_mm256_castsi256_pd(full)) as u64);
        if word == WORDS {
            return BITS;
        }
        let mut words = [0; WORDS];
        store(&mut words, blocked);
        word * WORD + first_zero(words[word])
    };
    scan(input, run, sink, |rows: &mut Rows, n, candidates| rows.scan::<WORDS>(n, *candidates.end(), first_free))
}
