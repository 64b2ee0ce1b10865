//! Lanes over a history in plain Rust.
//!
//! Cost: for each far move and 64 heaps, the decode of [`byte_lanes`](crate::cores::mex::subtraction); a chain of two
//! operations per heap.
//! Bound: the decode.

use super::ring;
use super::{Output, Records, Start};
use crate::cores::mex::lanes::plain::{accumulate, free_words};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Records, _: CostContext) -> Cost {
    ring::cost_lanes(input, 1.5, 0.25)
}

/// The chain: each heap waits for the previous one.
pub fn needs(_: &Records) -> Needs {
    Needs { cycles: 2.0, ..Needs::default() }
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    ring::drive_lanes(input, run, start, accumulate, free_words)
}
