//! The tree of [`super::walsh_tree::avx512`] with the last class in the frequency domain of the terms, see [`super::fourier`]: a leaf needs
//! four transforms modulo each of two primes, instead of one pass over a series for each part.
//!
//! Cost: for a leaf 14 ns (Zen 5) or 26 ns (Zen 4) for each point of its transforms, of which there are two to four times `n`;
//! above the leaves a third of the additions of `walsh_tree_avx512`. What is the same for all leaves is made by one thread.
//! Bound: half of the time the loads and stores of passes over series, else the multiplications of residues; from `n` = 16000 on, L2.

use super::Partitions;
use super::fourier::{Foreseen, Fourier};
use super::tree::{self, by_rulesets, leaves, nodes, share};
use super::walsh_tree::avx512::parts;
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

/// Rates: those of [`super::walsh_tree`], the part of its time above the leaves, and ns of a term of the transforms.
pub fn cost(input: &Partitions, context: CostContext, [addition, pass, above, term]: [f64; 4]) -> Cost {
    let Cost { ns, .. } = tree::cost(1, input, [addition, pass]);
    let Foreseen { terms, bytes, is_same } = Foreseen::new(input, context.threads);
    let one = if is_same { ns } else { above * ns + term * terms };
    Cost { ns: tree::on_threads(one, context), bytes: bytes + (context.threads - 1) as f64 * STACK }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
pub fn run(input: &Partitions, run: &Run, threads: usize) -> Result<Vec<u32>, RunError> {
    let passes = parts();
    by_rulesets(1, input, &|mut plan| {
        let Some(last) = Fourier::new(&plan) else {
            plan.pair_up();
            return share(threads, plan.leaves(), &|part| leaves(&plan, run, part, &passes));
        };
        share(threads, plan.leaves(), &|part| {
            let mut scratch = last.scratch();
            nodes(&plan, run, part, &passes, &mut |node, character| last.sum(&plan, node, character, &mut scratch))
        })
    })
}
