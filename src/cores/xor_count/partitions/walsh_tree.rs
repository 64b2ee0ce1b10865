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

use std::ops::Range;

use super::Partitions;
use super::tree::{self, PAD, Passes, drive, passes};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;
use crate::machine::isa::tier;

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
    use super::*;

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

/// Vectors of 16 terms. All loads and stores are aligned: a shifted vector is assembled from two neighbours (`vpermt2d`), one of which is
/// left over from the previous step. An unaligned load would always split a line, and wait for the stores of the previous part.
///
/// Cost: two loads, a permutation, three operations and a store for 16 additions.
/// Bound: the loads and the store. On Zen 4, a 512-bit store takes two cycles.
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::cores::xor_count::partitions::tree::descend;
    use crate::simd::avx512::{load, store};

    const LANES: usize = 16;

    #[inline]
    #[tier(Avx512)]
    pub fn parts() -> impl Passes {
        passes!(1, |series: &mut _, size, signs, terms, modulus| add_shifted(series, size, signs, terms, modulus))
    }

    /// Applies a part to a series of one lane, see [`passes`].
    #[inline]
    #[tier(Avx512)]
    pub fn add_shifted(series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
        let modulus = _mm512_set1_epi32(modulus as i32);
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let blocks = series.as_chunks_mut::<LANES>().0;
        let range = (PAD + terms.start) / LANES..(PAD + terms.end).div_ceil(LANES);
        let back = size.div_ceil(LANES);
        let index = _mm512_add_epi32(lanes, _mm512_set1_epi32((back * LANES - size) as i32));
        let mut above = load(&blocks[range.end - back]);
        let mut shifted = |block: &[u32; LANES]| {
            let below = load(block);
            let both = _mm512_permutex2var_epi32(below, index, above);
            above = below;
            both
        };
        // A sum is below twice the modulus; a difference may be negative. Of the two candidates, as unsigned numbers, the smaller is
        // the reduced one.
        if signs & 1 == 0 {
            descend(blocks, back, range, |to, from| {
                let sum = _mm512_add_epi32(load(to), shifted(from));
                store(to, _mm512_min_epu32(sum, _mm512_sub_epi32(sum, modulus)));
            });
        } else {
            descend(blocks, back, range, |to, from| {
                let sum = _mm512_sub_epi32(load(to), shifted(from));
                store(to, _mm512_min_epu32(sum, _mm512_add_epi32(sum, modulus)));
            });
        }
    }
}
