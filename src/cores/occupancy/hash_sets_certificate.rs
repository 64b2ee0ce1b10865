//! The hash sets of the baseline, queried only for the candidates that the certificate leaves: linear instead of
//! quadratic.
//!
//! Cost: a few look-ups and six insertions for each P-position.
//! Bound: hashing, then cache misses once the sets outgrow the cache.

use super::hash_sets::{HashSets, bytes};
use super::lines::{certified, one_by_one};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    input.published(450.0 * input.limit() as f64, bytes(input))
}

/// Six marks per P-position, each a store.
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: 6.0, ..Needs::default() }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    certified(input, run, sink, one_by_one::<HashSets>)
}
