//! [`super::walsh_lanes`] in two `u32x8` of the `wide` crate, with the signs as masks.
//!
//! Cost: four loads, ten operations and two stores for 16 additions, if the build has 256-bit vectors. A default build has 128-bit
//! vectors without an unsigned minimum.
//! Bound: the vector ports.

use wide::u32x8;

use super::Partitions;
use super::walsh_lanes::LANES;
use super::walsh_tree::{PAD, descend, drive, leaves, tree_cost};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Partitions, _: CostContext) -> Cost {
    tree_cost::<LANES>(input, 0.25, 4.0)
}

pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    let modulus = u32x8::splat(input.modulus());
    drive::<LANES>(input, 1, |plan, part| {
        leaves::<LANES>(plan, run, part, |series, size, signs, terms, _| {
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            let negative: [u32x8; 2] = std::array::from_fn(|half| {
                u32x8::new(std::array::from_fn(|lane| (signs >> (8 * half + lane) & 1).wrapping_neg()))
            });
            descend(vectors, size, terms, |to, from| {
                let (to, from) = (to.as_chunks_mut::<8>().0, from.as_chunks::<8>().0);
                for ((to, from), negative) in to.iter_mut().zip(from).zip(negative) {
                    let from = u32x8::new(*from);
                    // Adds the number or modulus - number, so sums are at most twice the modulus.
                    let sum = u32x8::new(*to) + ((modulus - from) & negative | from & !negative);
                    *to = sum.min(sum - modulus).to_array();
                }
            });
        })
    })
}
