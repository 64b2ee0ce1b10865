//! A slice in a register. A step is one operation with three operands (`vpternlogq`), of which one is in memory.

use std::arch::x86_64::{
    __m512i, _mm512_andnot_si512, _mm512_or_si512, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask, _mm512_xor_si512,
};

use super::{Parts, Shared, WORDS, Work, work};
use crate::simd::avx512::{load, store};

/// The truth tables of the operations, in which the operands are these columns.
const A: i32 = 0xf0;
const B: i32 = 0xcc;
const C: i32 = 0xaa;

/// The part of this tier.
#[inline]
#[target_feature(enable = "avx512f,bmi1,bmi2,lzcnt,popcnt")]
pub fn parts() -> impl Work {
    let parts = Parts(
        |words: &[u64; WORDS]| load(words),
        |slice: __m512i, words: &mut [u64; WORDS]| store(words, slice),
        |a: __m512i, b: __m512i| _mm512_or_si512(a, b),
        |sum: __m512i, a: __m512i, b: __m512i| _mm512_ternarylogic_epi64::<{ A | (B & C) }>(sum, a, b),
        |a: __m512i, b: __m512i| _mm512_andnot_si512(b, a),
        |a: __m512i, b: __m512i| _mm512_xor_si512(a, b),
        |of: __m512i, a: __m512i, b: __m512i| _mm512_ternarylogic_epi64::<{ A & !(B ^ C) }>(of, a, b),
        |slice: __m512i| _mm512_test_epi64_mask(slice, slice) != 0,
    );
    move |shared: &Shared<'_>| work(shared, parts)
}
