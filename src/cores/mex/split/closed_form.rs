//! The closed forms for 2 and for 4 or more parts, proved in the docs of the module of [`super::MexSplit`]. For 3 parts, no closed
//! form is known. Comparing this kernel with the general ones checks both.
//!
//! Cost: one store per size.
//! Bound: the store.

use super::Split;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: the ns of a heap, and of a run.
pub fn cost(input: &Split, _: CostContext, [heap, run]: [f64; 2]) -> Cost {
    if input.parts() == 3 {
        return Cost::IMPOSSIBLE;
    }
    let n = input.limit() as f64;
    Cost { ns: run + heap * n, bytes: 4.0 * n }
}

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    let mut values = vec![0; input.limit() + 1];
    for (s, value) in values.iter_mut().enumerate().skip(1) {
        *value = match input.parts() {
            0 | 1 => 0,
            2 => u32::from(s % 2 == 0),
            _ => s as u32 - 1,
        };
    }
    run.advance(values.len() as u64)?;
    Ok(values)
}
