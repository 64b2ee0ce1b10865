//! Sets added in 512-bit vectors, which stay in registers while the sets of a value are added.
//!
//! Cost per shifted set: eight loads and ORs.
//! Bound (Zen 4): the loads. Every load of 64 bytes splits a cache line, but only every second load of 32 bytes does.

use std::arch::x86_64::*;

use super::{RuleOut, ShiftedSets, TileBits};
use crate::simd::avx512::{load, store};

#[target_feature(enable = "avx512f")]
fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
    // Four vectors per pass, each in its own variable: an array of eight went through memory.
    for (pass, reached) in reached.as_chunks_mut::<256>().0.iter_mut().enumerate() {
        let vector = |bits: &[u8; 256], i: usize| load(&bits.as_chunks::<64>().0[i]);
        let [mut a, mut b, mut c, mut d] = std::array::from_fn(|i| vector(reached, i));
        for heap in heaps {
            let reaching = &sets.reaching(*heap, start).as_chunks().0[pass];
            a = _mm512_or_si512(a, vector(reaching, 0));
            b = _mm512_or_si512(b, vector(reaching, 1));
            c = _mm512_or_si512(c, vector(reaching, 2));
            d = _mm512_or_si512(d, vector(reaching, 3));
        }
        for (bytes, sum) in reached.as_chunks_mut::<64>().0.iter_mut().zip([a, b, c, d]) {
            store(bytes, sum);
        }
    }
}

/// The part of this tier.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn parts() -> impl RuleOut {
    |sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits| rule_out(sets, heaps, start, reached)
}
