//! Count in four tables that take turns, then add up the cubes of the Walsh-Hadamard transform.
//!
//! Cost: an increment per heap, `V log V` additions and `2 V` wide products.
//! Bound: the stores.

use super::{Values, by_transform, count};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: ns of a run, of a heap, and of a value.
pub fn cost(input: &Values, _: CostContext, [start, heap, value]: [f64; 3]) -> Cost {
    if !input.are_below(36) {
        return Cost::IMPOSSIBLE;
    }
    let (n, span) = (input.heaps as f64, input.span() as f64);
    Cost { ns: start + heap * n + value * span, bytes: 32.0 * span }
}

/// A store per heap, for its increment.
pub fn needs(_: &Values) -> Needs {
    Needs { stores: 1.0, ..Needs::default() }
}

pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    Ok(by_transform(&count::<4>(input, run)?))
}
