//! 64 candidates `m` at once in plain words, 256 or 512 in [`vectors`](crate::simd::vectors): a word of each of the four bit rows is
//! ORed, and the first zero is the partner. Words are aligned to the row `used`; the other three rows are shifted against it, each by
//! a distance that is fixed for one `n`: two loads, one word apart, and a funnel shift.
//!
//! Cost: `0.3 M / W` vectors of `W` candidates of four rows, for each of `0.24 M` positions.
//! Bound: in plain words the four integer units, where a shifted word takes five operations and a word of candidates eighteen; with
//! AVX2 and in `wide` shifts, then loads.

use super::lines::{drive, every};
use super::rows::{Rows, Scanned, bytes};
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::vectors::WordVectors;

/// Rates: ns of a run, of a unit of the limit, and of the square of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [start, unit, square]: [f64; 3]) -> Cost {
    let limit = input.limit() as f64;
    input.published(start + unit * limit + square * limit * limit, bytes(input.limit()))
}

#[inline(always)]
pub fn run(input: &ProportionateNim, run: &Run, vectors: impl WordVectors) -> Result<Positions, RunError> {
    let rows: Rows = Rows::new(input.limit() as usize);
    drive(input, run, Scanned { rows, vectors }, every::parts())
}
