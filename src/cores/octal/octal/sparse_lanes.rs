//! Sparse byte lanes: 64 heaps at a time, computed from the rare heaps and verified. See `mex/sparse`.
//!
//! Cost per block and move: the decode of the tier's [parts](crate::cores::octal::sparse), for each rare heap and some hundred common
//! ones.
//! Bound: the decode.

use super::{Octal, Start};
use crate::cores::octal::sparse::Compiled;
use crate::cores::octal::sparse::blocks::Choice;
use crate::cores::octal::sparse::drive::{self, Alone, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rate: the ns of a move and a block.
pub fn cost(input: &Octal, _: CostContext, [step]: [f64; 1]) -> Cost {
    drive::cost(input, step)
}

pub fn run(input: &Octal, run: &Run, start: Start, parts: Compiled) -> Result<Vec<u16>, RunError> {
    drive(input, run, start, Choice::All, parts, &mut Alone)
}
