//! The baseline, as published: go through the heaps `a <= b` in order. A table holds how many heaps `c >= b` have each value, and
//! each pair looks up the count for `g(a) ^ g(b)`.
//!
//! Cost: `N^2 / 2` lookups.
//! Bound: two loads per pair.
//! Source: the Project Euler 310 solution, but with 64-bit counts (the original's 32 bits overflow just above `N = 1e6`).

use super::{PROGRESS_STEP, Values};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: ns of a run, of a heap, and of a pair of heaps.
pub fn cost(input: &Values, _: CostContext, [start, heap, pair]: [f64; 3]) -> Cost {
    // The sum over a heap's pairs is below N^2 / 4 and must fit in 64 bits.
    if !input.are_below(33) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps as f64;
    Cost { ns: start + heap * n + pair * n * n / 2.0, bytes: 8.0 * input.span() as f64 }
}

/// An addition to the count for each pair.
pub fn needs(input: &Values) -> Needs {
    Needs { cycles: input.heaps as f64 / 2.0, ..Needs::default() }
}

pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    let values = &input.values;
    let mut later = vec![0u64; input.span()];
    for value in values {
        later[usize::from(*value)] += 1;
    }
    let mut triples = 0;
    for (block, chunk) in values.chunks(PROGRESS_STEP).enumerate() {
        for (i, b) in chunk.iter().enumerate() {
            let earlier = &values[..=block * PROGRESS_STEP + i];
            triples += u128::from(earlier.iter().map(|a| later[usize::from(a ^ b)]).sum::<u64>());
            later[usize::from(*b)] -= 1;
        }
        run.advance(chunk.len() as u64)?;
    }
    Ok(triples)
}
