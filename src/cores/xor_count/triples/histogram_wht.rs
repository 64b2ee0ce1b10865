//! Count in four tables that take turns, then add up the cubes of the Walsh-Hadamard transform.
//!
//! Cost: an increment per heap, `V log V` additions and `2 V` wide products.
//! Bound: the stores.

use super::{Values, by_transform, count};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Values, _: CostContext) -> Cost {
    if !input.are_below(36) {
        return Cost::IMPOSSIBLE;
    }
    let (n, span) = (input.values.len() as f64, input.span() as f64);
    Cost { ns: 100.0 + 0.35 * n + 4.0 * span, bytes: 32.0 * span }
}

/// A store per heap, for its increment.
pub fn needs(_: &Values) -> Needs {
    Needs { stores: 1.0, ..Needs::default() }
}

pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    Ok(by_transform(&count::<4>(input, run)?))
}
