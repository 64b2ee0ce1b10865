//! Vectors of `std::simd`. It has no funnel shift, and a shift takes its count modulo 64, so a funnel shift is three shifts and an OR. A
//! lane is extracted by a variable index through memory.

use std::simd::Simd;
use std::simd::cmp::SimdPartialEq;

use super::{Parts, WordVectors};
use crate::simd::bits::{WORD, first_zero};
use crate::simd::std_simd::by_tiers;

by_tiers!(WordVectors, {
    const WORDS: usize = REGISTER / 8;
    type Words = Simd<u64, WORDS>;
    Parts(
        #[inline(always)]
        |words: &[u64; WORDS]| Words::from_array(*words),
        #[inline(always)]
        |a: Words, b: Words| a | b,
        #[inline(always)]
        |low: Words, high: Words, by: usize| {
            let up = high << Words::splat(1) << Words::splat((WORD - 1 - by) as u64);
            low >> Words::splat(by as u64) | up
        },
        #[inline(always)]
        |vector: Words| {
            let word = first_zero(vector.simd_eq(Words::splat(u64::MAX)).to_bitmask());
            if word >= WORDS { WORDS * WORD } else { word * WORD + first_zero(vector[word]) }
        },
    )
});
