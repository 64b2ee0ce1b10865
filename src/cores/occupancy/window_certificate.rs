//! The window of `bit_rows`, opened only where the certificate leaves candidates: nearly always once per P-position.
//!
//! Cost: four unaligned windows, a first zero and six single-bit read-modify-writes for each P-position.
//! Bound: the serial chain from the marks of one position through memory to the windows of the next.

use super::lines::{certificate, drive};
use super::rows::{Rows, bytes};
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: ns of a run, and of a unit of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [start, unit]: [f64; 2]) -> Cost {
    input.published(start + unit * input.limit() as f64, bytes(input.limit()))
}

/// Six marks per P-position, most of them next to the previous one of their row.
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { bits: 6.0, ..Needs::default() }
}

pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
    let rows: Rows = Rows::new(input.limit() as usize);
    drive(input, run, rows, certificate::parts())
}
