//! `bit_rows` on the crate `bitvec`: marks are set and searched through it, windows are read from its raw words. This
//! is the fair form of the crate; `bitvec_operators` is the tempting one.
//!
//! Cost: the windows of `bit_rows`.
//! Bound: as in `bit_rows`; only setting a bit and finding a zero differ.

use bitvec::prelude::{BitVec, Lsb0};

use super::bit_rows::{Shape, bytes, first_free};
use super::layers::{Marks, Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub struct Bits {
    pub shape: Shape,
    pub bits: BitVec<u64, Lsb0>,
}

impl Marks for Bits {
    fn new(rows: usize, heaps: usize) -> Self {
        let shape = Shape::new(rows, heaps);
        Bits { shape, bits: BitVec::from_vec(shape.words()) }
    }

    #[inline(always)]
    fn mark(&mut self, row: usize, place: usize) {
        self.bits.set(self.shape.bit(row, place), true);
    }

    #[inline(always)]
    fn next_free(&self, row: usize, place: usize) -> usize {
        let rest = &self.bits[self.shape.bit(row, place)..];
        place + rest.first_zero().expect("a row has a place without a mark")
    }
}

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.002 * n * n * n + 5.0 * n * n, bytes: bytes(input) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |marks: &Bits, visit: &Visit| first_free(marks.shape, marks.bits.as_raw_slice(), visit))
}
