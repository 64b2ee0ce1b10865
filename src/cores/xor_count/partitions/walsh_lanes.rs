//! [`super::walsh_tree`] with characters as lanes: the series of 16 characters are interleaved, and a part is added in some lanes
//! and subtracted in others. Nothing is shifted, so short series have no partial vectors and no stalls. But they take 16 times the
//! memory, and outgrow L1 at `n` = 500.
//!
//! Cost: two loads, four operations and a store for 16 additions.
//! Bound: the loads and the store.

use std::ops::Range;

use super::Partitions;
pub use super::walsh_tree::lanes_needs as needs;
use super::walsh_tree::{PAD, descend, drive, leaves, tree_cost};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Characters in a vector.
pub const LANES: usize = 16;

pub fn cost(input: &Partitions, _: CostContext) -> Cost {
    tree_cost::<LANES>(input, 0.2, 4.0)
}

#[inline(always)]
pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    drive::<LANES>(input, 1, |plan, part| {
        leaves::<LANES>(plan, run, part, |series, size, signs, terms, modulus| {
            add_shifted(series, size, signs, terms, modulus);
        })
    })
}

#[inline(always)]
fn add_shifted(series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
    let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
    let negative: [u32; LANES] = std::array::from_fn(|lane| (signs >> lane & 1).wrapping_neg());
    descend(vectors, size, terms, |to, from| {
        for (lane, to) in to.iter_mut().enumerate() {
            // modulus - a is !a + modulus + 1.
            let addend = (from[lane] ^ negative[lane]).wrapping_add(negative[lane] & (modulus + 1));
            let sum = to.wrapping_add(addend);
            *to = sum.min(sum.wrapping_sub(modulus));
        }
    });
}
