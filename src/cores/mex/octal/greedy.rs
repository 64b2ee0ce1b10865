//! [`super::sparse_lanes`] with moves that are chosen. The rare heaps that together reach most common values are
//! decoded. The others are only asked whether they reach the least codes that are still free, a few of each heap. The
//! common heaps that together reach most rare values verify; the few values that they miss are searched for.
//!
//! Cost per block and move: the planes for about half of the rare heaps, and a few operations for each other heap and question.
//! Bound: these operations.

use super::drive::{self, Alone};
use super::sparse_lanes::{NS, parts};
use super::{Octal, Start};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// A move is decoded if it reaches this many codes of a heap, for common and for rare values; as measured with AVX-512.
pub const WORTH: [f64; 2] = [0.0015, 0.0015];

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    drive::cost(input, 0.7 * NS)
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(Some(WORTH)), &mut Alone)
}
