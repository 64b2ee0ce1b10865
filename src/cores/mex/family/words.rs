//! Bit slicing in plain words: bit `i` of a word belongs to the `i`-th of 64 sets.
//!
//! Idea, levels of batches and the search for periods are those of [`super::slices`].
//!
//! Cost: as there, for an eighth of the sets.
//! Bound: the loads of words, two for each move that only some of the sets have.

use super::slices::{self, Parts};
use super::{Family, Findings};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: as of [`slices`].
pub fn cost(input: &Family, context: CostContext, rates: [f64; 2]) -> Cost {
    slices::cost_of(1, input, context, rates)
}

#[inline(always)]
pub fn run(input: &Family, run: &Run) -> Result<Findings, RunError> {
    let parts = Parts(
        |[word]: &[u64; 1]| *word,
        |word: u64, words: &mut [u64; 1]| *words = [word],
        |a: u64, b: u64| a | b,
        |sum: u64, a: u64, b: u64| sum | a & b,
        |a: u64, b: u64| a & !b,
        |a: u64, b: u64| a ^ b,
        |of: u64, a: u64, b: u64| of & !(a ^ b),
        |word: u64| word != 0,
    );
    slices::run(input, run, 1, |shared: &_| slices::work(shared, parts))
}
