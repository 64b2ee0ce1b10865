//! [`super::walsh_lanes`] with the signs in a mask register.
//!
//! Cost: two loads, four operations and a store for 16 additions.
//! Bound: the loads and the store; from `n` = 500 on, L2.

use std::arch::x86_64::*;

use super::Partitions;
use super::walsh_lanes::LANES;
pub use super::walsh_tree::lanes_needs as needs;
use super::walsh_tree::{PAD, descend, drive, leaves, tree_cost};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, store};

pub fn cost(input: &Partitions, _: CostContext) -> Cost {
    tree_cost::<LANES>(input, if input.total() < 1500 { 0.065 } else { 0.075 }, 3.0)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    let modulus = _mm512_set1_epi32(input.modulus() as i32);
    drive::<LANES>(input, 1, |plan, part| {
        leaves::<LANES>(plan, run, part, |series, size, signs, terms, _| {
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            descend(vectors, size, terms, |to, from| {
                let from = load(from);
                let sum = _mm512_add_epi32(load(to), _mm512_mask_sub_epi32(from, signs as u16, modulus, from));
                store(to, _mm512_min_epu32(sum, _mm512_sub_epi32(sum, modulus)));
            });
        })
    })
}
