//! A slice in two registers of 256 bits. A step is an AND and an OR for each.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_or_si256, _mm256_testz_si256, _mm256_xor_si256,
};

use super::{Parts, Shared, WORDS, Work, work};
use crate::simd::avx2::{load, store};

type Slice = [__m256i; 2];

/// The part of this tier.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn parts() -> impl Work {
    let parts = Parts(
        |words: &[u64; WORDS]| {
            let halves = words.as_chunks::<4>().0;
            [load(&halves[0]), load(&halves[1])]
        },
        |[low, high]: Slice, words: &mut [u64; WORDS]| {
            let halves = words.as_chunks_mut::<4>().0;
            store(&mut halves[0], low);
            store(&mut halves[1], high);
        },
        |a: Slice, b: Slice| [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])],
        |sum: Slice, a: Slice, b: Slice| {
            let both = [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])];
            [_mm256_or_si256(sum[0], both[0]), _mm256_or_si256(sum[1], both[1])]
        },
        |a: Slice, b: Slice| [_mm256_andnot_si256(b[0], a[0]), _mm256_andnot_si256(b[1], a[1])],
        |a: Slice, b: Slice| [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])],
        |of: Slice, a: Slice, b: Slice| {
            let differ = [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])];
            [_mm256_andnot_si256(differ[0], of[0]), _mm256_andnot_si256(differ[1], of[1])]
        },
        |[low, high]: Slice| {
            let any = _mm256_or_si256(low, high);
            _mm256_testz_si256(any, any) == 0
        },
    );
    move |shared: &Shared<'_>| work(shared, parts)
}
