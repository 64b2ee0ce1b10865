//! The baseline with `bitvec`: a bit array for the reached values, and `first_zero` for the mex.
//!
//! Cost: a bounds check and a read-modify-write for each pair of heap and move. Clearing and searching go by words.
//! Bound: the dependence through the flag words, as in `flags`.

use bitvec::prelude::{BitVec, Lsb0};

use super::{Subtraction, heap_by_heap};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: the ns of a pair of heap and move, and of a heap.
pub fn cost(input: &Subtraction, _: CostContext, [pair, heap]: [f64; 2]) -> Cost {
    Cost { ns: pair * input.pairs() + heap * input.heaps() as f64, bytes: 2.0 * input.heaps() as f64 }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let mut reached: BitVec<u64, Lsb0> = BitVec::repeat(false, 128);
    heap_by_heap(input, run, |n, g| {
        reached.fill(false);
        for m in input.moves().iter().map(|m| *m as usize).take_while(|m| *m <= n) {
            let v = usize::from(g[n - m]);
            if v >= reached.len() {
                reached.resize((v + 1).next_multiple_of(64), false);
            }
            reached.set(v, true);
        }
        reached.first_zero().unwrap_or(reached.len())
    })
}
