//! `bit_rows` with 256 candidates at once in the portable vectors of the crate `wide`. The build chooses their width in
//! hardware: SSE2 by default, AVX2 in a native build. Vectors of 512 bits took longer there, 4.57 ms against 4.12 ms at
//! `N = 1000`.
//!
//! Cost: `0.09 N / 256 + 1` windows for each of `0.18 N^2` visits.
//! Bound: at small `N` the bookkeeping of a visit, and each search reading what the one before it has just stored.
//! `wide` has no funnel shift, and no shift by 64.

use wide::u64x4;

use super::bit_rows::{Words, bytes};
use super::layers::{Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, first_zero};

const WORDS: usize = 4;

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0009 * n * n * n + 4.0 * n * n, bytes: bytes(input) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    let funnel = |low: u64x4, high: u64x4, by: usize| low >> by as u64 | high << 1_u64 << (WORD - 1 - by) as u64;
    let first = |forbidden: u64x4| {
        let full = forbidden.simd_eq(u64x4::splat(u64::MAX)).to_bitmask();
        let word = first_zero(full.into());
        if word >= WORDS { WORDS * WORD } else { word * WORD + first_zero(forbidden.to_array()[word]) }
    };
    scan(input, run, sink, |marks: &Words, visit: &Visit| {
        marks.shape.first_free(
            &marks.words,
            visit,
            |words: &[u64; WORDS]| u64x4::new(*words),
            |a, b| a | b,
            funnel,
            first,
        )
    })
}
