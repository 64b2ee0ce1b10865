//! The baseline: a sieve with one byte per heap, set where a P-position hits.
//!
//! Cost: a store for each pair of a P-position and a move.
//! Bound: these stores, each to a different cache line; memory, once the table exceeds the caches.

use super::Zeros;
use super::checkpoint::Start;
use super::sieve::{Marks, bytes, sieve};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: the ns of a hit in a small table, and what each larger one adds; of a heap; of a run.
pub fn cost(input: &Zeros, _: CostContext, [hit, spread, heap, run]: [f64; 4]) -> Cost {
    let heaps = input.heaps() as f64;
    // Stores reach the whole table, so their cost depends on the cache level that holds it.
    let hit = hit + spread * f64::max(heaps / 1e6, 1.0).ln();
    input.unless_resumable(Cost { ns: hit * input.hits() + heap * heaps + run, bytes: heaps + bytes(input) })
}

/// A store for each pair of a P-position and a move.
pub fn needs(input: &Zeros) -> Needs {
    Needs { stores: input.hits() / input.heaps() as f64, ..Needs::default() }
}

struct Bytes(Vec<bool>);

impl Marks for Bytes {
    #[inline(always)]
    fn is_hit(&self, n: usize) -> bool {
        self.0[n]
    }

    #[inline(always)]
    fn hit(&mut self, n: usize) {
        self.0[n] = true;
    }
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    start.at_zero()?;
    sieve(input, run, Bytes(vec![false; input.heaps()]))
}
