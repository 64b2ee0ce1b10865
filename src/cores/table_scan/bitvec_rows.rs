//! `bit_rows` on the crate `bitvec`: marks are set and tested through it, windows are read from the raw words below it. That
//! is the fair form of the crate; `bitvec_operators` is the tempting one.
//!
//! Cost: the windows of `bit_rows`.
//! Bound: as `bit_rows`; only setting and testing a bit differs.

use bitvec::prelude::{BitVec, Lsb0};

use super::layers::{Marks, PADDING, Places, bytes, scan};
use super::{Sink, StoneGame};
use crate::bits::{WORD, first_zero, window};
use crate::kernel::{Cost, On, Run, Stop};

pub struct Bits(pub BitVec<u64, Lsb0>);

impl Marks for Bits {
    fn new(places: usize) -> Self {
        Bits(BitVec::repeat(false, places + PADDING))
    }

    #[inline(always)]
    fn mark(&mut self, place: usize) {
        self.0.set(place, true);
    }

    #[inline(always)]
    fn is_marked(&self, place: usize) -> bool {
        self.0[place]
    }
}

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0028 * n * n * n + 4.6 * n * n, bytes: bytes(input, 1.0) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<WORD, _, S>(input, run, |marks: &Bits, rows: Places| {
        first_zero(rows.iter().fold(0, |word, place| word | window(marks.0.as_raw_slice(), *place)))
    })
}
