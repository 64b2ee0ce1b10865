//! Four words. A funnel shift is two shifts and an OR.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
};

use super::{Parts, WordVectors};
use crate::machine::isa::tier;
use crate::simd::avx2::{load, store};
use crate::simd::bits::{WORD, first_zero};

const WORDS: usize = 4;

/// The parts of this tier.
#[inline]
#[tier(Avx2)]
pub fn parts() -> impl WordVectors {
    Parts(
        |words: &[u64; WORDS]| load(words),
        |a: __m256i, b: __m256i| _mm256_or_si256(a, b),
        |low: __m256i, high: __m256i, by: usize| {
            // A shift by 64 gives zero.
            let (down, up) = (_mm_cvtsi64_si128(by as i64), _mm_cvtsi64_si128((WORD - by) as i64));
            _mm256_or_si256(_mm256_srl_epi64(low, down), _mm256_sll_epi64(high, up))
        },
        |vector: __m256i| {
            let full = _mm256_cmpeq_epi64(vector, _mm256_set1_epi64x(-1));
            let word = first_zero(_mm256_movemask_pd(_mm256_castsi256_pd(full)) as u64);
            if word == WORDS {
                return WORDS * WORD;
            }
            let mut words = [0; WORDS];
            store(&mut words, vector);
            word * WORD + first_zero(words[word])
        },
    )
}
