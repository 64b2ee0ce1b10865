//! Four tables of counts that take turns, then the Walsh-Hadamard transform and its cubes.
//!
//! Cost: an increment a heap, `V log V` additions and `2 V` wide products. Bound: the stores.

use super::{Values, by_transform, count};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Values, _: CostContext) -> Cost {
    if !input.are_below(36) {
        return Cost::IMPOSSIBLE;
    }
    let (n, span) = (input.values.len() as f64, input.span() as f64);
    Cost { ns: 100.0 + 0.35 * n + 4.0 * span, bytes: 32.0 * span }
}

/// An increment a heap: a store.
pub fn needs(_: &Values) -> Needs {
    Needs { stores: 1.0, ..Needs::default() }
}

pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    Ok(by_transform(&count::<4>(input, run)?))
}
