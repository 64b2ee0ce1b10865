//! Lanes over a history, decoded by `wide`'s byte shuffle, which goes byte by byte in a default build for x86.
//!
//! Cost: for each far move and 64 heaps, a shuffle and an OR per eight values; a chain of two operations per heap.
//! Bound: the shuffle, except in a native build.

use super::ring;
use super::{Output, Records, Start};
use crate::cores::mex::lanes::plain;
use crate::cores::mex::lanes::wide::{decode, plane_ns};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Records, _: CostContext) -> Cost {
    ring::cost_lanes(input, 1.5, plane_ns(0.03, 0.25, 8.0))
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    ring::drive_lanes(input, run, start, decode, plain::free_words)
}
