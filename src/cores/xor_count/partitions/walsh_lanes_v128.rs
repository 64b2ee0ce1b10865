//! [`super::walsh_lanes`] in four vectors of 4 lanes.
//!
//! Cost: eight loads, twelve to twenty operations and four stores for 16 additions.
//! Bound (llvm-mca, Neoverse V2): loads and stores, 2.7 cycles; the portable source takes 5.

use std::array::from_fn;

use super::Partitions;
use super::walsh_lanes::LANES;
use super::walsh_tree::{PAD, descend, drive, leaves, tree_cost};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::v128::{add_signed, load, signs as signs_of, store};

pub fn cost(input: &Partitions, context: CostContext) -> Cost {
    tree_cost::<LANES>(input, if context.tier == Tier::Neon { 0.1 } else { 0.19 }, 3.0)
}

pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    drive::<LANES>(input, 1, |plan, part| {
        leaves::<LANES>(plan, run, part, |series, size, signs, terms, modulus| {
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            let signs: [_; LANES / 4] = from_fn(|v| signs_of(from_fn(|i| signs >> (4 * v + i) & 1 == 1), modulus));
            descend(vectors, size, terms, |to, from| {
                let (to, from) = (to.as_chunks_mut::<4>().0, from.as_chunks::<4>().0);
                for ((to, from), signs) in to.iter_mut().zip(from).zip(&signs) {
                    store(to, add_signed(load(to), load(from), *signs));
                }
            });
        })
    })
}
