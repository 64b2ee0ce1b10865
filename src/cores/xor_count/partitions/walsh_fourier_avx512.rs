//! [`super::walsh_tree_avx512`] with the last class in the frequency domain of the terms, see [`super::fourier`]: a leaf needs four
//! transforms modulo each of two primes, instead of one pass over a series for each part.
//!
//! Cost: for a leaf 14 ns (Zen 5) or 26 ns (Zen 4) for each point of its transforms, of which there are two to four times `n`;
//! above the leaves a third of the additions of `walsh_tree_avx512`.
//! Bound: half of the time the loads and stores of passes over series, else the multiplications of residues; from `n` = 16000 on, L2.

use super::Partitions;
use super::fourier::{Foreseen, Fourier};
use super::walsh_tree::{drive_with, leaves, nodes};
use super::walsh_tree_avx512::{self, add_shifted};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Partitions, context: CostContext) -> Cost {
    let tree = walsh_tree_avx512::cost(input, context);
    let Foreseen { terms, bytes, is_same } = Foreseen::new(input, 1);
    Cost { ns: if is_same { tree.ns } else { 0.32 * tree.ns + 25.0 * terms }, bytes }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    on_threads(input, run, 1)
}

/// The kernel on `threads` threads.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
pub fn on_threads(input: &Partitions, run: &Run, threads: usize) -> Result<Vec<u32>, RunError> {
    let prepare = |plan: &mut _| {
        let last = Fourier::new(plan);
        if last.is_none() {
            plan.pair_up::<1>();
        }
        last
    };
    drive_with::<1, _>(input, threads, prepare, |plan, last, part| {
        let apply = |series: &mut [u32], size, signs, terms, modulus| add_shifted(series, size, signs, terms, modulus);
        let Some(last) = last else { return leaves::<1>(plan, run, part, apply) };
        let mut scratch = last.scratch();
        nodes::<1>(plan, run, part, &apply, |node, character| last.sum(plan, node, character, &mut scratch))
    })
}
