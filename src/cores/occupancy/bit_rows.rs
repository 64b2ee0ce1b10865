//! 64 candidates `m` at once: a word of each of the four bit rows is ORed, and the first zero is the partner. Words are
//! aligned to the row `used`; the other three rows are shifted against it, each by a distance that is fixed for one
//! `n`.
//!
//! Cost: `0.3 M / 64` words of four rows for each of `0.24 M` positions.
//! Bound: the four integer units. A shifted word takes five operations, a word of candidates eighteen.

use super::lines::scan;
use super::rows::{Rows, Stretch, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::first_zero;

/// The number of blocked candidates from word `at` on, at most 64.
#[inline(always)]
pub fn first_free(stretch: &Stretch, at: usize) -> usize {
    first_zero(stretch.shifted.iter().fold(stretch.used[at], |word, row| word | row.word(at)))
}

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(120.0 + 4.0 * limit + 0.0015 * limit * limit, bytes(input.limit()))
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |rows: &mut Rows, n, candidates| rows.scan::<1>(n, *candidates.end(), first_free))
}
