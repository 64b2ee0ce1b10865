//! Sets added in 128-bit vectors: a part of a tile, half of it for NEON, stays in registers while the sets of a value's earlier
//! heaps are added.
//!
//! Cost per shifted set: loads and ORs of 512 bytes. The portable source loads and stores the tile as well, once per set.
//! Bound (llvm-mca, Neoverse V2): the loads, three per cycle.

use super::{RuleOut, ShiftedSets, TileBits};
use crate::simd::v128::{SUMS, or_all};

fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
    for (part, reached) in reached.as_chunks_mut::<16>().0.as_chunks_mut::<SUMS>().0.iter_mut().enumerate() {
        let sources = heaps.iter().map(|heap| &sets.reaching(*heap, start).as_chunks().0.as_chunks().0[part]);
        or_all(reached, sources);
    }
}

/// The part of this tier.
#[inline(always)]
pub fn parts() -> impl RuleOut {
    rule_out
}
