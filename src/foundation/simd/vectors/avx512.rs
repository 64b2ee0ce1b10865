//! Eight words. A funnel shift is one instruction (`vpshrdvq`).

use std::arch::x86_64::{__m512i, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64, _mm512_shrdv_epi64};

use super::{Parts, WordVectors};
use crate::machine::isa::tier;
use crate::simd::avx512::{load, store};
use crate::simd::bits::{WORD, first_zero};

const WORDS: usize = 8;

/// The parts of this tier.
#[inline]
#[tier(Avx512)]
pub fn parts() -> impl WordVectors {
    Parts(
        |words: &[u64; WORDS]| load(words),
        |a: __m512i, b: __m512i| _mm512_or_si512(a, b),
        |low: __m512i, high: __m512i, by: usize| _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(by as i64)),
        |vector: __m512i| {
            let with_zeros = _mm512_cmpneq_epi64_mask(vector, _mm512_set1_epi64(-1));
            if with_zeros == 0 {
                return WORDS * WORD;
            }
            let word = with_zeros.trailing_zeros() as usize;
            let mut words = [0; WORDS];
            store(&mut words, vector);
            word * WORD + first_zero(words[word])
        },
    )
}
