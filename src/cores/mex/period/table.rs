//! The baseline: all values in a table by the kernel `greedy`, then counted; a period is proved by the theorem of Guy and Smith.
//!
//! Cost: that of `greedy`, and three bytes a heap.
//! Source: Guy and Smith, "The G-values of various games", 1956.

use super::super::octal::{self, Octal, drive, greedy, sparse_lanes};
use super::{Census, Start, stream};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    let Cost { ns, bytes } = greedy::cost(input, context);
    Cost { ns: ns + input.heaps() as f64, bytes: stream::bytes(input.heaps() as f64, bytes) }
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    start.at_zero()?;
    let parts = sparse_lanes::parts(Some(greedy::WORTH));
    let values = drive::drive(input, run, octal::Start::default(), &parts, &mut drive::Alone)?;
    let period = octal::period(input.code(), &values, run)?;
    Ok(Census::of(&values, period))
}
