//! `bit_rows` with 256 candidates at once, in two vectors. A shifted window takes two loads, one word apart, and two shifts.
//!
//! Cost: `0.3 M / 256` windows of four rows for each of `0.24 M` positions.
//! Bound: the vector ports; two of four can shift on Neoverse V2.

use super::lines::scan;
use super::rows::{Rows, Shifted, Stretch, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::v128::{self, WORDS, first_zero, funnel, or};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(140.0 + 5.0 * limit + 0.0005 * limit * limit, bytes(input.limit()))
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let window = |words: &[u64], at: usize| v128::words(words[at..].first_chunk().expect("a whole window"));
    let row = |Shifted { words, shift }: &Shifted, at: usize| funnel(window(words, at), window(words, at + 1), *shift);
    let first_free = |Stretch { used, shifted: [a, b, c] }: &Stretch, at: usize| {
        first_zero(or(or(window(used, at), row(a, at)), or(row(b, at), row(c, at))))
    };
    scan(input, run, sink, |rows: &mut Rows, n, candidates| rows.scan::<WORDS>(n, *candidates.end(), first_free))
}
