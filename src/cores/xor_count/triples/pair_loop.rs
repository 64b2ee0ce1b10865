//! The baseline: the source's way. The heaps `a <= b` in order; a table holds how many heaps `c >= b` have each value, and the
//! pair looks up those of value `g(a) ^ g(b)`.
//!
//! Cost: `N^2 / 2` look-ups. Bound: two loads a pair.
//! Source: the Project Euler 310 solution, with 64-bit counts (the original's 32 bits overflow just above `N = 1e6`).

use super::{BLOCK, Values};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Values, _: CostContext) -> Cost {
    // The sum over a heap's pairs is below N^2 / 4 and has 64 bits.
    if !input.are_below(33) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.values.len() as f64;
    Cost { ns: 20.0 + n + 0.45 * n * n / 2.0, bytes: 8.0 * input.span() as f64 }
}

/// An addition to the count for each pair.
pub fn needs(input: &Values) -> Needs {
    Needs { cycles: input.values.len() as f64 / 2.0, ..Needs::default() }
}

pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    let values = &input.values;
    let mut later = vec![0u64; input.span()];
    values.iter().for_each(|value| later[usize::from(*value)] += 1);
    let mut triples = 0;
    for (block, chunk) in values.chunks(BLOCK).enumerate() {
        for (i, b) in chunk.iter().enumerate() {
            let earlier = &values[..=block * BLOCK + i];
            triples += u128::from(earlier.iter().map(|a| later[usize::from(a ^ b)]).sum::<u64>());
            later[usize::from(*b)] -= 1;
        }
        run.advance(chunk.len() as u64)?;
    }
    Ok(triples)
}
