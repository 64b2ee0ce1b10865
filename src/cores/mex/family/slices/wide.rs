//! A slice in a vector of the crate `wide`: four registers of SSE2, two of AVX2 or one of AVX-512, as the build has them.

use wide::u64x8;

use super::{Parts, Shared, WORDS, Work, work};

/// The part in the vectors of the build.
#[inline(always)]
pub fn parts() -> impl Work {
    let parts = Parts(
        |words: &[u64; WORDS]| u64x8::new(*words),
        |slice: u64x8, words: &mut [u64; WORDS]| *words = slice.to_array(),
        |a: u64x8, b: u64x8| a | b,
        |sum: u64x8, a: u64x8, b: u64x8| sum | a & b,
        |a: u64x8, b: u64x8| a & !b,
        |a: u64x8, b: u64x8| a ^ b,
        |of: u64x8, a: u64x8, b: u64x8| of & !(a ^ b),
        |slice: u64x8| slice.to_array().into_iter().fold(0, |any, word| any | word) != 0,
    );
    move |shared: &Shared<'_>| work(shared, parts)
}
