//! Vectors of 16 terms. All loads and stores are aligned: a shifted vector is assembled from two
//! neighbours (`vpermt2d`), one of which is left over from the previous step. An unaligned load would always split a line, and wait
//! for the stores of the previous part.
//!
//! Cost: two loads, a permutation, three operations and a store for 16 additions.
//! Bound: the loads and the store. On Zen 4, a 512-bit store takes two cycles.

use std::arch::x86_64::*;
use std::ops::Range;

use super::Passes;
use crate::cores::xor_count::partitions::tree::{PAD, descend, passes};
use crate::simd::avx512::{load, store};

const LANES: usize = 16;

/// The parts of this tier.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
pub fn parts() -> impl Passes {
    passes!(1, |series: &mut _, size, signs, terms, modulus| add_shifted(series, size, signs, terms, modulus))
}

/// Applies a part to a series of one lane, see [`passes`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
pub fn add_shifted(series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
    let modulus = _mm512_set1_epi32(modulus as i32);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let blocks = series.as_chunks_mut::<LANES>().0;
    let range = (PAD + terms.start) / LANES..(PAD + terms.end).div_ceil(LANES);
    let back = size.div_ceil(LANES);
    let index = _mm512_add_epi32(lanes, _mm512_set1_epi32((back * LANES - size) as i32));
    let mut above = load(&blocks[range.end - back]);
    let mut shifted = |block: &[u32; LANES]| {
        let below = load(block);
        let both = _mm512_permutex2var_epi32(below, index, above);
        above = below;
        both
    };
    // A sum is below twice the modulus; a difference may be negative. Of the two candidates, as unsigned numbers, the smaller is
    // the reduced one.
    if signs & 1 == 0 {
        descend(blocks, back, range, |to, from| {
            let sum = _mm512_add_epi32(load(to), shifted(from));
            store(to, _mm512_min_epu32(sum, _mm512_sub_epi32(sum, modulus)));
        });
    } else {
        descend(blocks, back, range, |to, from| {
            let sum = _mm512_sub_epi32(load(to), shifted(from));
            store(to, _mm512_min_epu32(sum, _mm512_add_epi32(sum, modulus)));
        });
    }
}
