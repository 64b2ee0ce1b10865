//! [`super::walsh_lanes`] in four vectors of 4 lanes, with the signs as factors. `mla` adds or subtracts in one instruction; the
//! sum is right or off by the modulus, in a direction that depends on the sign alone, and the lesser of the two numbers is right.
//!
//! Cost: eight loads, twelve operations and four stores for 16 additions.
//! Bound (llvm-mca, Neoverse V2): loads and stores, 2.7 cycles; the portable source takes 5.

use std::arch::aarch64::*;
use std::array::from_fn;

use super::Partitions;
use super::walsh_lanes::LANES;
use super::walsh_tree::{PAD, descend, drive, leaves, tree_cost};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::neon::{load, store};

pub fn cost(input: &Partitions, _: CostContext) -> Cost {
    tree_cost::<LANES>(input, 0.1, 3.0)
}

#[target_feature(enable = "neon")]
pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    drive::<LANES>(input, 1, |plan, part| {
        leaves::<LANES>(plan, run, part, |series, size, signs, terms, modulus| {
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            let by_sign = |plus: u32, minus: u32| -> [uint32x4_t; LANES / 4] {
                let lane = |lane: usize| if signs >> lane & 1 == 0 { plus } else { minus };
                from_fn(|v| load::<u32, 4>(&from_fn(|i| lane(4 * v + i))))
            };
            let (factors, backs) = (by_sign(1, u32::MAX), by_sign(modulus.wrapping_neg(), modulus));
            descend(vectors, size, terms, |to, from| {
                let (to, from) = (to.as_chunks_mut::<4>().0, from.as_chunks::<4>().0);
                for (((to, from), factor), back) in to.iter_mut().zip(from).zip(factors).zip(backs) {
                    let sum = vmlaq_u32(load(to), load(from), factor);
                    store(to, vminq_u32(sum, vaddq_u32(sum, back)));
                }
            });
        })
    })
}
