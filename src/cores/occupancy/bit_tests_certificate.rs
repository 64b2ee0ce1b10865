//! One bit per line, one test at a time, only the candidates that the certificate leaves.
//!
//! Cost: about four candidates and six single-bit read-modify-writes for each P-position.
//! Bound: mispredicted branches, as in `byte_table_certificate`, with an eighth of its memory.

use super::lines::{certified, one_by_one};
use super::rows::{Rows, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    input.published(100.0 + 8.6 * input.limit() as f64, bytes(input.limit()))
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    certified(input, run, sink, one_by_one::<Rows>)
}
