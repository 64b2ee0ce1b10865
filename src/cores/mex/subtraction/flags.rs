//! The baseline, as published: packed flags, cleared for each heap. Each reached value sets one bit, and the mex is found by
//! testing one bit at a time.
//!
//! Cost: a read-modify-write of a flag word for each pair of heap and move, then a test for each value below the mex.
//! Bound: the dependence through the flag words, and the mispredicted end of the search.
//! Source: the Project Euler 310 solution, but with flags that grow on demand (the original stops at 80 values).

use super::{Subtraction, heap_by_heap};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: the ns of a pair of heap and move, and of a heap.
pub fn cost(input: &Subtraction, _: CostContext, [pair, heap]: [f64; 2]) -> Cost {
    Cost { ns: pair * input.pairs() + heap * input.heaps() as f64, bytes: 2.0 * input.heaps() as f64 }
}

/// One flag to set for each pair of a heap and a move.
pub fn needs(input: &Subtraction) -> Needs {
    Needs { bits: input.pairs() / input.heaps() as f64, ..Needs::default() }
}

pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let mut flags = vec![0u64; 2].into_boxed_slice();
    heap_by_heap(input, run, |n, moves, g| {
        flags.fill(0);
        for m in moves {
            let v = usize::from(g[n - *m as usize]);
            if v / 64 >= flags.len() {
                flags = grown(&flags, v / 64 + 1);
            }
            flags[v / 64] |= 1 << (v % 64);
        }
        let mut v = 0;
        while flags.get(v / 64).is_some_and(|word| word >> (v % 64) & 1 == 1) {
            v += 1;
        }
        v
    })
}

/// The flags in more words. The slice that a heap uses stays in registers, as it would not if it grew in place.
#[cold]
fn grown(flags: &[u64], words: usize) -> Box<[u64]> {
    let mut grown = vec![0; words].into_boxed_slice();
    grown[..flags.len()].copy_from_slice(flags);
    grown
}
