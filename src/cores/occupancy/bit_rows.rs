//! 64 candidates `m` at once: a window of each of the four bit rows is ORed, and the first zero is the partner.
//!
//! Cost: `0.3 M / 64` windows of four rows for each of `0.24 M` positions.
//! Bound: two loads and three shifts for each row of each window.

use super::lines::scan;
use super::rows::{Rows, Window, bytes, place};
use super::{ProportionateNim, Sink};
use crate::bits::{WORD, first_zero, window};
use crate::kernel::{Cost, On, Run, Stop};

/// The number of blocked candidates from `m` on, at most 64.
#[inline(always)]
pub fn first_free(rows: &Window, m: usize) -> usize {
    first_zero(rows.iter().fold(0, |word, (row, start)| word | window(row, place(*start, m))))
}

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    let limit = input.limit() as f64;
    Cost { ns: 0.0026 * limit * limit + 5.0 * limit, bytes: bytes(input.limit()) }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    scan(input, run, |rows: &mut Rows, n, candidates| rows.find::<WORD>(n, candidates, first_free))
}
