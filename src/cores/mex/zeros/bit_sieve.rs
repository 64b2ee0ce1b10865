//! A sieve with one bit per heap.
//!
//! Cost: a load, an OR and a store for each pair of a P-position and a move.
//! Bound: these operations. It takes an eighth of the memory of [`super::byte_sieve`], so caches hold eight times as many heaps.

use super::Zeros;
use super::checkpoint::Start;
use super::sieve::{Marks, bytes, sieve};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::WORD;

/// Rates: as in [`super::byte_sieve`].
pub fn cost(input: &Zeros, _: CostContext, [hit, spread, heap, run]: [f64; 4]) -> Cost {
    let heaps = input.heaps() as f64;
    let hit = hit + spread * f64::max(heaps / 8e6, 1.0).ln();
    input.unless_resumable(Cost { ns: hit * input.hits() + heap * heaps + run, bytes: heaps / 8.0 + bytes(input) })
}

struct Words(Vec<u64>);

impl Marks for Words {
    #[inline(always)]
    fn is_hit(&self, n: usize) -> bool {
        self.0[n / WORD] >> (n % WORD) & 1 == 1
    }

    #[inline(always)]
    fn hit(&mut self, n: usize) {
        self.0[n / WORD] |= 1 << (n % WORD);
    }
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    start.at_zero()?;
    sieve(input, run, Words(vec![0; input.heaps().div_ceil(WORD)]))
}
