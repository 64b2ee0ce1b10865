//! Slices in registers of x86-64.

use std::arch::x86_64::*;

use super::{Operations, Work, work};
use crate::cores::mex::family::sets::{SharedSets, WORDS};
use crate::machine::isa::tier;

#[cfg(feature = "avx2")]
pub mod avx2 {
    //! A slice in two registers of 256 bits. A step is an AND and an OR for each.

    use super::*;
    use crate::simd::avx2::{load, store};

    type Slice = [__m256i; 2];

    #[inline]
    #[tier(Avx2)]
    pub fn parts() -> impl Work {
        let operations = Operations {
            load: |words: &[u64; WORDS]| {
                let halves = words.as_chunks::<4>().0;
                [load(&halves[0]), load(&halves[1])]
            },
            store: |[low, high]: Slice, words: &mut [u64; WORDS]| {
                let halves = words.as_chunks_mut::<4>().0;
                store(&mut halves[0], low);
                store(&mut halves[1], high);
            },
            or: |a: Slice, b: Slice| [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])],
            or_both: |sum: Slice, a: Slice, b: Slice| {
                let both = [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])];
                [_mm256_or_si256(sum[0], both[0]), _mm256_or_si256(sum[1], both[1])]
            },
            without: |a: Slice, b: Slice| [_mm256_andnot_si256(b[0], a[0]), _mm256_andnot_si256(b[1], a[1])],
            xor: |a: Slice, b: Slice| [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])],
            agree: |of: Slice, a: Slice, b: Slice| {
                let differ = [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])];
                [_mm256_andnot_si256(differ[0], of[0]), _mm256_andnot_si256(differ[1], of[1])]
            },
            any: |[low, high]: Slice| {
                let any = _mm256_or_si256(low, high);
                _mm256_testz_si256(any, any) == 0
            },
        };
        move |shared: &SharedSets<'_>| work(WORDS, shared, operations)
    }
}

#[cfg(feature = "avx512")]
pub mod avx512 {
    //! A slice in a register. A step is one operation with three operands (`vpternlogq`), of which one is in memory.

    use super::*;
    use crate::simd::avx512::{load, store};

    /// The truth tables of the operations, in which the operands are these columns.
    const A: i32 = 0xf0;
    const B: i32 = 0xcc;
    const C: i32 = 0xaa;

    #[inline]
    #[tier(Avx512)]
    pub fn parts() -> impl Work {
        let operations = Operations {
            load: |words: &[u64; WORDS]| load(words),
            store: |slice: __m512i, words: &mut [u64; WORDS]| store(words, slice),
            or: |a: __m512i, b: __m512i| _mm512_or_si512(a, b),
            or_both: |sum: __m512i, a: __m512i, b: __m512i| _mm512_ternarylogic_epi64::<{ A | (B & C) }>(sum, a, b),
            without: |a: __m512i, b: __m512i| _mm512_andnot_si512(b, a),
            xor: |a: __m512i, b: __m512i| _mm512_xor_si512(a, b),
            agree: |of: __m512i, a: __m512i, b: __m512i| _mm512_ternarylogic_epi64::<{ A & !(B ^ C) }>(of, a, b),
            any: |slice: __m512i| _mm512_test_epi64_mask(slice, slice) != 0,
        };
        move |shared: &SharedSets<'_>| work(WORDS, shared, operations)
    }
}
