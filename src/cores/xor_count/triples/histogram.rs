//! The best public algorithm: count the values, then go through pairs of values with the first formula of the module.
//!
//! Cost: an increment per heap, and `V^2 / 2` products for `V` values.
//! Bound: the increments, each of which waits for the previous increment of the same value.

use super::{Values, count};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: ns of a run, of a heap, and of a pair of values.
pub fn cost(input: &Values, _: CostContext, [start, heap, pair]: [f64; 3]) -> Cost {
    if !input.are_below(36) {
        return Cost::IMPOSSIBLE;
    }
    let (n, span) = (input.heaps as f64, input.span() as f64);
    Cost { ns: start + heap * n + pair * span * span, bytes: 16.0 * span }
}

/// A store per heap, for its increment.
pub fn needs(_: &Values) -> Needs {
    Needs { stores: 1.0, ..Needs::default() }
}

pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    let counts = count::<1>(input, run)?;
    let of = |x: usize| u128::from(counts[x]);
    let zeros = of(0);
    let mut triples = zeros * (zeros + 1) * (zeros + 2) / 6;
    for x in 1..counts.len() {
        triples += zeros * of(x) * (of(x) + 1) / 2;
        let mut pairs = 0;
        for y in x + 1..counts.len() {
            if x ^ y > y {
                pairs += of(y) * of(x ^ y);
            }
        }
        triples += of(x) * pairs;
    }
    Ok(triples)
}
