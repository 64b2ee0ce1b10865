//! Lanes over a history.
//!
//! Cost: for each far move and 64 heaps, the decode of the tier's [`lanes`](crate::cores::mex::lanes); a chain of two operations
//! per heap.
//! Bound: in plain Rust, the decode; else the chain, and what it waits for. If a far
//! move is shorter than two blocks, a block's far part waits for the codes of the previous block.

use super::layout::Layout;
use super::ring::{self, LaneBlocks, drive};
use super::{Output, Records, Start};
use crate::cores::mex::lanes::Decoder;
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: the time of the chain relative to AVX-512, and the ns of a far move for a heap.
pub fn cost(input: &Records, _: CostContext, [chain, step]: [f64; 2]) -> Cost {
    ring::cost_lanes(input, chain, step)
}

/// The chain: each heap waits for the previous one.
pub fn needs(_: &Records) -> Needs {
    Needs { cycles: 2.0, ..Needs::default() }
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start, decoder: &'static dyn Decoder) -> Result<Output, RunError> {
    let layout = Layout::new(input);
    drive(input, layout, run, start, &mut LaneBlocks::new(input, &layout, decoder))
}
