//! A sieve with one bit per heap, set and tested by `bitvec`.
//!
//! Cost: as in [`super::bit_sieve`], plus the crate's index arithmetic.
//! Bound: as in [`super::bit_sieve`].

use bitvec::prelude::{BitVec, Lsb0};

use super::Zeros;
use super::checkpoint::Start;
use super::sieve::{Marks, sieve};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: as in [`super::bit_sieve`].
pub fn cost(input: &Zeros, context: CostContext, rates: [f64; 4]) -> Cost {
    super::bit_sieve::cost(input, context, rates)
}

impl Marks for BitVec<u64, Lsb0> {
    #[inline(always)]
    fn is_hit(&self, n: usize) -> bool {
        self[n]
    }

    #[inline(always)]
    fn hit(&mut self, n: usize) {
        self.set(n, true);
    }
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    start.at_zero()?;
    sieve(input, run, BitVec::<u64, Lsb0>::repeat(false, input.heaps()))
}
