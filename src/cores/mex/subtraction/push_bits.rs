//! Each value has a bit row of the heaps that reach it. A heap takes the first value in whose row its bit is clear, and then
//! sets one bit of that row for each move.
//!
//! Cost: a read-modify-write for each pair of heap and move, and a scattered bit test for each value below the mex.
//! Bound: these scattered accesses. A bit costs as much as a word.

use super::{Subtraction, heap_by_heap};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::WORD;

/// Rates: the ns of a pair of heap and move, of a bit test, and of a run.
pub fn cost(input: &Subtraction, _: CostContext, [pair, test, run]: [f64; 3]) -> Cost {
    let (heaps, values) = (input.heaps() as f64, input.values());
    let bytes = heaps * 2.0 + input.most_values() * (heaps / 8.0 + 24.0) + input.copied_moves();
    Cost { ns: pair * input.pairs() + test * values * heaps + run, bytes }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let heaps = input.heaps();
    let moves: Vec<usize> = input.moves().iter().map(|m| *m as usize).collect();
    let mut reached: Vec<Vec<u64>> = Vec::new();
    let mut allowed = moves.len();
    heap_by_heap(input, run, |n, _| {
        let is_reached = |row: &Vec<u64>| row[n / WORD] >> (n % WORD) & 1 == 1;
        let v = reached.iter().position(|row| !is_reached(row)).unwrap_or(reached.len());
        if v == reached.len() {
            reached.push(vec![0; heaps.div_ceil(WORD)]);
        }
        while allowed > 0 && n + moves[allowed - 1] >= heaps {
            allowed -= 1;
        }
        for m in &moves[..allowed] {
            reached[v][(n + m) / WORD] |= 1 << ((n + m) % WORD);
        }
        v
    })
}
