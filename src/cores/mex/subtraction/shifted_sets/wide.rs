//! Sets added in `wide`'s vectors, which fit this problem: an OR of bytes exists at every width.
//!
//! Cost per shifted set: loads and ORs of 512 bytes, in the vectors of the build.
//! Bound: the loads, which split lines.

use wide::u8x64;

use super::{RuleOut, ShiftedSets, TILE_HEAPS, TileBits};

#[inline(always)]
fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
    let vectors =
        |bits: &TileBits| -> [u8x64; TILE_HEAPS / 512] { std::array::from_fn(|i| u8x64::new(bits.as_chunks().0[i])) };
    let mut sum = vectors(reached);
    for heap in heaps {
        let reaching = vectors(sets.reaching(*heap, start));
        sum = std::array::from_fn(|i| sum[i] | reaching[i]);
    }
    for (bytes, sum) in reached.as_chunks_mut().0.iter_mut().zip(sum) {
        *bytes = sum.to_array();
    }
}

/// The part in the vectors of the build.
#[inline(always)]
pub fn parts() -> impl RuleOut {
    rule_out
}
