//! The baseline: all values in a table by the kernel `greedy`, then counted; a period is proved by the theorem of Guy and Smith.
//!
//! Cost: that of `greedy` where few heaps are rare, some 140 ns a heap, and three bytes.
//! Source: Guy and Smith, "The G-values of various games", 1956.

use super::super::octal::{self, Octal, drive, greedy, sparse_lanes};
use super::{Census, Start, stream};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    let heaps = input.heaps() as f64;
    let few_rare = stream::cost(input, 115.0, 140.0);
    Cost { ns: few_rare.ns + heaps, bytes: stream::bytes(heaps, greedy::cost(input, context).bytes) }
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    start.at_zero()?;
    let parts = sparse_lanes::parts(Some(greedy::WORTH));
    let values = drive::drive(input, run, octal::Start::default(), &parts, &mut drive::Alone)?;
    Census::new(input.code(), &values, run)
}
