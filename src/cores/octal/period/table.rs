//! The baseline: all values in a table by the kernel `greedy`, then counted; a period is proved by the theorem of Guy and Smith.
//!
//! Cost: that of `greedy` where few heaps are rare, some 140 ns a heap, and three bytes.
//! Source: Guy and Smith, "The G-values of various games", 1956.

use super::{Census, Start, stream};
use crate::cores::octal::octal::{self, Octal};
use crate::cores::octal::sparse::drive::{self, Alone, drive};
use crate::cores::octal::sparse::plain;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: the ns of a heap among the first, of another, and to count it.
pub fn cost(input: &Octal, context: CostContext, [near, far, count]: [f64; 3]) -> Cost {
    let heaps = input.heaps() as f64;
    let few_rare = stream::cost(input, context, [near, far]);
    Cost { ns: few_rare.ns + count * heaps, bytes: stream::bytes(heaps, drive::bytes(input)) }
}

pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
    start.at_zero()?;
    let values = drive(input, run, octal::Start::default(), plain::parts(), &mut Alone)?;
    Census::new(input.code(), &values, run)
}
