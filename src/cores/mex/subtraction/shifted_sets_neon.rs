//! [`super::shifted_sets`] with half a tile in sixteen registers while the sets of a value's earlier heaps are added.
//!
//! Cost per shifted set: loads and ORs of 512 bytes. The portable source loads and stores the tile as well, once per set.
//! Bound (llvm-mca, Neoverse V2): the loads, three per cycle.

use super::Subtraction;
use super::shifted_sets::{ShiftedSets, TileBits, cost_of, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::neon::or_all;

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    cost_of(input, 9.0)
}

/// Vectors of half a tile.
const HALF: usize = size_of::<TileBits>() / 16 / 2;

#[target_feature(enable = "neon")]
fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
    for (half, reached) in reached.as_chunks_mut::<16>().0.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
        let sources = heaps.iter().map(|heap| &sets.reaching(*heap, start).as_chunks().0.as_chunks().0[half]);
        or_all::<HALF>(reached, sources);
    }
}

#[target_feature(enable = "neon")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive(input, run, |sets, heaps, start, reached| rule_out(sets, heaps, start, reached))
}
