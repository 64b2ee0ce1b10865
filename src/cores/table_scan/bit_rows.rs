//! 64 candidates at once in plain words: a window of each of the six bit rows is ORed, and the first zero is the P-position.
//! Its loop is also compiled at the AVX2 tier, where BMI shortens the shifts.
//!
//! Cost: `0.09 N / 64` windows for each of `0.18 N^2` visits, `N^3 / 64` in all at large `N`.
//! Bound: two loads and three shifts for each row of each window; at small `N` the mispredicted end of the search.

use super::layers::{Marks, PADDING, Places, bytes, scan};
use super::{Sink, StoneGame};
use crate::bits::{WORD, first_zero, window};
use crate::kernel::{Cost, Needs, On, Run, Stop, Tier};

/// Marks as bits of words.
pub struct Words(pub Vec<u64>);

impl Marks for Words {
    fn new(places: usize) -> Self {
        Words(vec![0; (places + PADDING) / WORD])
    }

    #[inline(always)]
    fn mark(&mut self, place: usize) {
        self.0[place / WORD] |= 1 << (place % WORD);
    }

    #[inline(always)]
    fn is_marked(&self, place: usize) -> bool {
        self.0[place / WORD] >> (place % WORD) & 1 == 1
    }
}

/// A window of `WORDS` words at any place, not yet shifted: the words from the one that holds `place` on, those after it, and
/// the bits to shift by.
#[cfg(any(feature = "wide", all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512"))))]
#[inline(always)]
pub fn span<const WORDS: usize>(marks: &Words, place: usize) -> (&[u64; WORDS], &[u64; WORDS], usize) {
    let words = &marks.0[place / WORD..][..WORDS + 1];
    let low = words.first_chunk().expect("a whole vector");
    (low, words.last_chunk().expect("a whole vector"), place % WORD)
}

pub fn cost(input: &StoneGame, on: On) -> Cost {
    let n = input.heaps() as f64;
    let cubic = if on.tier == Tier::Portable { 0.003 } else { 0.0026 };
    Cost { ns: cubic * n * n * n + 4.0 * n * n, bytes: bytes(input, 1.0) }
}

/// Five marks a P-position, and for each of its visits, three for two, the words of a search: six rows of two loads, two shifts
/// and two ORs each, at four of these 24 operations a cycle.
pub fn needs(input: &StoneGame) -> Needs {
    let words = (0.09 * input.heaps() as f64 / WORD as f64).max(1.0);
    Needs { bits: 5.0, cycles: 1.5 * words * 24.0 / 4.0, bytes: bytes(input, 1.0), ..Needs::default() }
}

#[inline(always)] // so that each tier compiles it for itself
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<WORD, _, S>(input, run, |marks: &Words, rows: Places| {
        first_zero(rows.iter().fold(0, |word, place| word | window(&marks.0, *place)))
    })
}
