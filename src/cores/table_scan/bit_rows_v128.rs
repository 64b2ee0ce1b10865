//! `bit_rows` with 256 candidates at once, in two vectors. A funnel shift is two or three shifts and an OR.
//!
//! Cost: `0.09 N / 256 + 1` windows for each of `0.18 N^2` visits.
//! Bound: as in `bit_rows_avx2`, with twice the loads.

use super::bit_rows::{Words, bytes};
use super::layers::{Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::v128::{WORDS, first_zero, funnel, or, words};

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0012 * n * n * n + 3.7 * n * n, bytes: bytes(input) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |marks: &Words, visit: &Visit| {
        marks.shape.first_free::<WORDS, _>(&marks.words, visit, words, or, funnel, first_zero)
    })
}
