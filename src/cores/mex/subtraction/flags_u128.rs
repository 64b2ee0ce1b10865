//! Flags in one register: 128 values at a time, with the mex from counting trailing ones. A heap that reaches all 128 takes
//! another pass for the next 128.
//!
//! Cost: a load and a 128-bit shift for each pair of heap and move; nothing is stored.
//! Bound: the dependent ORs, and about ten instructions for a variable 128-bit shift.

use super::{Subtraction, heap_by_heap};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: the ns of a pair of heap and move in a pass, and of a heap.
pub fn cost(input: &Subtraction, _: CostContext, [pair, heap]: [f64; 2]) -> Cost {
    let passes = (input.values() / 128.0).ceil();
    Cost { ns: pair * passes * input.pairs() + heap * input.heaps() as f64, bytes: 2.0 * input.heaps() as f64 }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    heap_by_heap(input, run, |n, moves, g| {
        let mut base = 0;
        loop {
            let mut reached = 0u128;
            for m in moves {
                let v = usize::from(g[n - *m as usize]).wrapping_sub(base);
                reached |= if v < 128 { 1 << v } else { 0 };
            }
            if reached != u128::MAX {
                return base + reached.trailing_ones() as usize;
            }
            base += 128;
        }
    })
}
