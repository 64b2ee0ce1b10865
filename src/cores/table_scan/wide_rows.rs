//! `bit_rows` with 512 candidates at once in the portable vectors of the crate `wide`, whose width in hardware is chosen by
//! the build: SSE2 by default, AVX-512 in a native build.
//!
//! Cost: `0.09 N / 512 + 1` windows for each of `0.18 N^2` visits.
//! Bound: shifts. `wide` has no horizontal OR, so the eight words of the result are looked through one by one.

use wide::u64x8;

use super::bit_rows::{Words, span};
use super::layers::{Places, bytes, scan};
use super::{Sink, StoneGame};
use crate::bits::{WORD, first_zero};
use crate::kernel::{Cost, On, Run, Stop};

const WORDS: usize = 8;

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0011 * n * n * n + 4.7 * n * n, bytes: bytes(input, 1.0) }
}

#[inline(always)]
fn window(marks: &Words, place: usize) -> u64x8 {
    let (low, high, shift) = span::<WORDS>(marks, place);
    // Two shifts, because one by 64 is not defined.
    u64x8::new(*low) >> shift as u64 | u64x8::new(*high) << 1_u64 << (WORD - 1 - shift) as u64
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<{ WORDS * WORD }, _, S>(input, run, |marks: &Words, [a, b, c, d, e, f]: Places| {
        let row = |place| window(marks, place);
        let forbidden = (row(a) | row(b) | row(c) | row(d) | row(e) | row(f)).to_array();
        match forbidden.iter().position(|word| *word != u64::MAX) {
            Some(word) => word * WORD + first_zero(forbidden[word]),
            None => WORDS * WORD,
        }
    })
}
