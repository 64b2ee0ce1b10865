//! One vector, with the signs in a mask register.
//!
//! Cost: two loads, four operations and a store for 16 additions.
//! Bound: the loads and the store; from `n` = 500 on, L2.

use std::arch::x86_64::*;
use std::ops::Range;

use super::{LANES, Passes};
use crate::cores::xor_count::partitions::tree::{PAD, descend, passes};
use crate::simd::avx512::{load, store};

/// The parts of this tier.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
pub fn parts() -> impl Passes {
    passes!(LANES, |series: &mut [u32], size, signs, terms: Range<usize>, modulus| {
        let modulus = _mm512_set1_epi32(modulus as i32);
        let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
        descend(vectors, size, terms, |to, from| {
            let from = load(from);
            let sum = _mm512_add_epi32(load(to), _mm512_mask_sub_epi32(from, signs as u16, modulus, from));
            store(to, _mm512_min_epu32(sum, _mm512_sub_epi32(sum, modulus)));
        });
    })
}
