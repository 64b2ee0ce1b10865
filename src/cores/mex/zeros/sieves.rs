//! Sieves: a heap that no P-position has hit is a P-position, and hits the heaps a move above it. Marks for all heaps are kept at
//! once, a byte or a bit each.

use super::{Start, Zeros};
use crate::cores::growing;
use crate::cores::mex::subtraction::Subtraction;
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::bits::WORD;

/// Heaps between two progress updates.
const PROGRESS_STEP: usize = 4096;

/// The cost with so many bytes of marks. Rates: the ns of a hit in a small table, and what each larger one adds; of a heap; of a run.
fn cost_of(input: &Zeros, marks: f64, [hit, spread, heap, run]: [f64; 4]) -> Cost {
    // Stores reach the whole table, so their cost depends on the cache level that holds it.
    let hit = hit + spread * f64::max(marks / 1e6, 1.0).ln();
    let bytes = marks + growing::bytes::<u64>(input.zeros()) + input.copied_moves();
    Cost { ns: hit * input.hits() + heap * input.heaps() as f64 + run, bytes }.only_if(!input.is_resumable)
}

/// Finds the P-positions. `marks` covers the heaps up to the limit; `is_hit` reads the mark of a heap, and `hit` sets it.
#[inline(always)]
fn sieve<M>(
    input: &Subtraction,
    run: &Run,
    mut marks: M,
    is_hit: impl Fn(&M, usize) -> bool,
    hit: impl Fn(&mut M, usize),
) -> Result<Vec<u64>, RunError> {
    let heaps = input.heaps();
    let moves = input.own_moves();
    let mut zeros = Vec::new();
    for start in (0..heaps).step_by(PROGRESS_STEP) {
        let end = heaps.min(start + PROGRESS_STEP);
        for n in start..end {
            if !is_hit(&marks, n) {
                growing::push(&mut zeros, n as u64);
                for m in &moves {
                    if n + m >= heaps {
                        break;
                    }
                    hit(&mut marks, n + m);
                }
            }
        }
        run.advance((end - start) as u64)?;
    }
    Ok(zeros)
}

pub mod byte_sieve {
    //! The baseline: a sieve with one byte per heap, set where a P-position hits.
    //!
    //! Cost: a store for each pair of a P-position and a move.
    //! Bound: these stores, each to a different cache line; memory, once the table exceeds the caches.

    use super::*;

    /// Rates: those of [`cost_of`].
    pub fn cost(input: &Zeros, _: CostContext, rates: [f64; 4]) -> Cost {
        cost_of(input, input.heaps() as f64, rates)
    }

    /// A store for each pair of a P-position and a move.
    pub fn needs(input: &Zeros) -> Needs {
        Needs { stores: input.hits() / input.heaps() as f64, ..Needs::default() }
    }

    #[inline(always)]
    pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
        start.at_zero()?;
        sieve(input, run, vec![false; input.heaps()], |hits, n| hits[n], |hits, n| hits[n] = true)
    }
}

pub mod bit_sieve {
    //! A sieve with one bit per heap.
    //!
    //! Cost: a load, an OR and a store for each pair of a P-position and a move.
    //! Bound: these operations. It takes an eighth of the memory of [`byte_sieve`], so caches hold eight times as many heaps.

    use super::*;

    /// Rates: those of [`cost_of`].
    pub fn cost(input: &Zeros, _: CostContext, rates: [f64; 4]) -> Cost {
        cost_of(input, input.heaps() as f64 / 8.0, rates)
    }

    #[inline(always)]
    pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
        start.at_zero()?;
        let words = vec![0u64; input.heaps().div_ceil(WORD)];
        let is_hit = |words: &Vec<u64>, n: usize| words[n / WORD] >> (n % WORD) & 1 == 1;
        sieve(input, run, words, is_hit, |words, n| words[n / WORD] |= 1 << (n % WORD))
    }
}
