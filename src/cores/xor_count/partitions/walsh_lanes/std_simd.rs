//! A `u32x16` of `std::simd`, with the signs in a mask, which is a mask register with AVX-512 and vectors below.
//!
//! Cost and bound: those of the registers that the compiler splits the vector into. SSE2 has no unsigned minimum.

use std::ops::Range;
use std::simd::cmp::SimdOrd;
use std::simd::{Mask, Select, u32x16};

use super::{LANES, Passes};
use crate::cores::xor_count::partitions::tree::{PAD, descend, passes};
use crate::simd::std_simd::by_tiers;

by_tiers!(
    Passes,
    passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
        let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
        let (modulus, negative) = (u32x16::splat(modulus), Mask::<i32, LANES>::from_bitmask(signs.into()));
        descend(vectors, size, terms, |to, from| {
            let from = u32x16::from_array(*from);
            let sum = u32x16::from_array(*to) + negative.select(modulus - from, from);
            *to = sum.simd_min(sum - modulus).to_array();
        });
    })
);
