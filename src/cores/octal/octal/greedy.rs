//! Sparse byte lanes: 64 heaps at a time, computed from the rare heaps and verified. See `mex/sparse`.
//!
//! The rare heaps that together reach most common values are decoded. The others are only asked whether they reach the least codes
//! that are still free, a few of each heap. The common heaps that together reach most rare values verify; the few values that they
//! miss are searched for.
//!
//! Cost per block and move: the decode of the tier's [parts](crate::cores::octal::sparse), the planes for about half of the rare
//! heaps, and a few operations for each other heap and question.
//! Bound: these operations. With AVX-512 the vector ports (Zen 4): a move takes `P + 15` of them, and eleven for a question.

use super::{Octal, Start};
use crate::cores::octal::sparse::Compiled;
use crate::cores::octal::sparse::drive::{self, Alone, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rate: the ns of a move and a block, if all were decoded.
pub fn cost(input: &Octal, _: CostContext, [step]: [f64; 1]) -> Cost {
    drive::cost(input, 0.7 * step)
}

pub fn run(input: &Octal, run: &Run, start: Start, parts: Compiled) -> Result<Vec<u16>, RunError> {
    drive(input, run, start, parts, &mut Alone)
}
