//! `bit_rows` with 512 candidates at once in the portable vectors of the crate `wide`. The build chooses their width in
//! hardware: SSE2 by default, AVX-512 in a native build.
//!
//! Cost: `0.3 M / 512` vectors of four rows for each of `0.24 M` positions.
//! Bound: shifts. `wide` has no horizontal OR, so the eight words of the result are checked one by one.

use wide::u64x8;

use super::lines::scan;
use super::rows::{Rows, Shifted, Stretch, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, first_zero};

const WORDS: usize = 8;
const BITS: usize = WORDS * WORD;

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(130.0 + 4.5 * limit + 0.00074 * limit * limit, bytes(input.limit()))
}

#[inline(always)]
fn load(words: &[u64], at: usize) -> u64x8 {
    u64x8::new(*words[at..at + WORDS].first_chunk().expect("a whole vector"))
}

#[inline(always)]
fn row(Shifted { words, shift }: &Shifted, at: usize) -> u64x8 {
    // Two shifts, because one by 64 is not defined.
    load(words, at) >> *shift as u64 | load(words, at + 1) << 1_u64 << (WORD - 1 - shift) as u64
}

#[inline(always)]
fn first_free(stretch: &Stretch, at: usize) -> usize {
    let [a, b, c] = &stretch.shifted;
    let blocked = (load(stretch.used, at) | row(a, at) | row(b, at) | row(c, at)).to_array();
    match blocked.iter().position(|word| *word != u64::MAX) {
        Some(word) => word * WORD + first_zero(blocked[word]),
        None => BITS,
    }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |rows: &mut Rows, n, candidates| rows.scan::<WORDS>(n, *candidates.end(), first_free))
}
