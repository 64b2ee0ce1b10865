//! The Walsh transform over the nim-sum, computed in a tree. The proof and the details are at [`Plan`](tree::Plan).
//!
//! For each character `w`, the partitions form a power series, to which each part is added or subtracted. Characters that agree in
//! their low bits share the parts with small values, so they form a binary tree. Parts that cannot affect the result are skipped,
//! the last class of parts starts from the side where the series is short, and series are trimmed to the terms still needed. On
//! several threads the leaves are divided into ranges, about eight per thread; a thread that takes a range builds the nodes above it
//! for itself.
//!
//! Cost: about a sixteenth of the additions of the table that [`super::dp`] fills, for the rules of Scatterstone Nim.
//! Bound: applying a part takes two loads, an addition, a conditional subtraction and a store per vector; from `n` = 10000 on, L2.

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;

use super::Partitions;
use super::tree::{self, Passes, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

/// Rates: ns of an addition, and of a pass over a series.
pub fn cost(input: &Partitions, context: CostContext, rates: [f64; 2]) -> Cost {
    let Cost { ns, .. } = tree::cost(1, input, rates);
    let bytes = tree::bytes(1, input, context.threads) + (context.threads - 1) as f64 * STACK;
    Cost { ns: tree::on_threads(ns, context), bytes }
}

#[inline(always)]
pub fn run(input: &Partitions, run: &Run, threads: usize, passes: impl Passes) -> Result<Vec<u32>, RunError> {
    drive(input, run, threads, &passes)
}

/// Blocks of terms, which compilers vectorise.
pub mod plain {
    use std::ops::Range;

    use super::Passes;
    use crate::cores::xor_count::partitions::tree::{PAD, passes};

    pub fn parts() -> impl Passes {
        passes!(1, add_shifted)
    }

    /// Applies a part to a series of one lane: `series[t] += +-series[t - size]` for the terms `t`, descending.
    #[inline(always)]
    fn add_shifted(series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
        /// Terms to copy before they are added, so the addition vectorises although source and target may overlap.
        const BLOCK: usize = 64;
        let subtract = signs & 1 == 1;
        let add = |to: &mut [u32], from: &[u32]| {
            for (to, from) in to.iter_mut().zip(from) {
                let sum = if subtract { *to + modulus - *from } else { *to + *from };
                *to = sum.min(sum.wrapping_sub(modulus));
            }
        };
        let (start, mut end) = (PAD + terms.start, PAD + terms.end);
        let mut from = [0; BLOCK];
        while end >= start + BLOCK {
            from.copy_from_slice(&series[end - BLOCK - size..end - size]);
            add(&mut series[end - BLOCK..end], &from);
            end -= BLOCK;
        }
        let rest = end - start;
        from[..rest].copy_from_slice(&series[start - size..end - size]);
        add(&mut series[start..end], &from[..rest]);
    }
}
