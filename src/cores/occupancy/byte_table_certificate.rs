//! One byte per line, only the candidates that the certificate leaves. The plain program to beat.
//!
//! Cost: about four candidates and six scattered byte stores for each P-position.
//! Bound: mispredicted branches; beyond the cache, the seven streams of cache lines that the stores touch.

use super::byte_table::{ByteTable, bytes};
use super::lines::{certified, one_by_one};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    // Small tables stay in the caches.
    let each = if limit < 1e5 { 3.1 } else { 9.7 };
    input.published(90.0 + each * limit, bytes(input))
}

/// Six marks per P-position, each a store.
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: 6.0, ..Needs::default() }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    certified(input, run, sink, one_by_one::<ByteTable>)
}
