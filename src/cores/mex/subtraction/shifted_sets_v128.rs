//! [`super::shifted_sets`] with a part of a tile in registers, half of it for NEON, while the sets of a value's earlier heaps are added.
//!
//! Cost per shifted set: loads and ORs of 512 bytes. The portable source loads and stores the tile as well, once per set.
//! Bound (llvm-mca, Neoverse V2): the loads, three per cycle.

use super::Subtraction;
use super::shifted_sets::{ShiftedSets, TileBits, cost_of, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::v128::{SUMS, or_all};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    cost_of(input, 9.0)
}

fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
    for (part, reached) in reached.as_chunks_mut::<16>().0.as_chunks_mut::<SUMS>().0.iter_mut().enumerate() {
        let sources = heaps.iter().map(|heap| &sets.reaching(*heap, start).as_chunks().0.as_chunks().0[part]);
        or_all(reached, sources);
    }
}

pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive(input, run, rule_out)
}
