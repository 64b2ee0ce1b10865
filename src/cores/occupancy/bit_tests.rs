//! One bit per line, one test at a time, every `m > n` tried in turn.
//!
//! Cost: the candidates of `byte_table`. Each test is a load, a variable shift and a mask instead of a compare with
//! memory, so it is *slower* than bytes while those fit in the cache: an eighth of the memory gains nothing there, and
//! the parallelism of a word is left unused.
//! Bound: instructions.

use super::lines::{one_by_one, scan};
use super::rows::{Rows, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(120.0 + 1.8 * limit + 0.0282 * limit * limit, bytes(input.limit()))
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, one_by_one::<Rows>)
}
