//! The hash sets of the baseline, asked only about the candidates that the certificate leaves: linear instead of quadratic.
//!
//! Cost: a few look-ups for each P-position, six insertions.
//! Bound: hashing, and cache misses once the sets pass the cache.

use super::hash_sets::{HashSets, bytes};
use super::lines::{certified, one_by_one};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    input.published(450.0 * input.limit() as f64, bytes(input))
}

/// Six marks a P-position: stores.
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: 6.0, ..Needs::default() }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    certified(input, run, sink, one_by_one::<HashSets>)
}
