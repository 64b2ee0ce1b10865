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
    let mut reached: BitVec<u64, Lsb0> = BitVec::from_vec(vec![0; 2]);
    heap_by_heap(input, run, |n, moves, g| {
        reached.as_raw_mut_slice().fill(0);
        for m in moves {
            let v = usize::from(g[n - *m as usize]);
            if v >= reached.len() {
                reached = grown(std::mem::take(&mut reached), v);
            }
            reached.set(v, true);
        }
        reached.first_zero().unwrap_or(reached.len())
    })
}

/// The array with room for `v`.
#[cold]
fn grown(reached: BitVec<u64, Lsb0>, v: usize) -> BitVec<u64, Lsb0> {
    let mut words = reached.into_vec();
    words.resize(v / 64 + 1, 0);
    BitVec::from_vec(words)
}
