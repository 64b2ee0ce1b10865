//! Two vectors of 8 lanes, with the signs as masks in registers.
//!
//! Cost: four loads, ten operations and two stores for 16 additions.
//! Bound: the vector ports.

use std::arch::x86_64::*;
use std::ops::Range;

use super::{LANES, Passes};
use crate::cores::xor_count::partitions::tree::{PAD, descend, passes};
use crate::simd::avx2::{load, store};
use crate::simd::mapped;

/// The parts of this tier.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn parts() -> impl Passes {
    passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
        let modulus = _mm256_set1_epi32(modulus as i32);
        let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
        // All ones in the lanes that subtract.
        let negative = mapped([signs, signs >> 8], |signs| {
            _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(signs as i32), bits), bits)
        });
        descend(vectors, size, terms, |to, from| {
            let (to, from) = (to.as_chunks_mut::<8>().0, from.as_chunks::<8>().0);
            for ((to, from), negative) in to.iter_mut().zip(from).zip(negative) {
                let from = load(from);
                let from = _mm256_blendv_epi8(from, _mm256_sub_epi32(modulus, from), negative);
                let sum = _mm256_add_epi32(load(to), from);
                store(to, _mm256_min_epu32(sum, _mm256_sub_epi32(sum, modulus)));
            }
        });
    })
}
