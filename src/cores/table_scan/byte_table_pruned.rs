//! `byte_table` with the two cuts that the source leaves out: a pair `(x,y)` whose key is used is skipped, and a pair's scan
//! stops at its first P-position, for it has only one. The scan starts at the hint and tests one candidate at a time.
//!
//! Cost: a quarter of the baseline's triples; each is up to six tests.
//! Bound: mispredicted branches.

use super::layers::{Marks, PADDING, Places, bytes, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, On, Run, Stop};

struct Bytes(Vec<bool>);

impl Marks for Bytes {
    fn new(places: usize) -> Self {
        Bytes(vec![false; places + PADDING])
    }

    #[inline(always)]
    fn mark(&mut self, place: usize) {
        self.0[place] = true;
    }

    #[inline(always)]
    fn is_marked(&self, place: usize) -> bool {
        self.0[place]
    }
}

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.053 * n * n * n + 1.4 * n * n, bytes: bytes(input, 8.0) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<1, _, S>(input, run, |marks: &Bytes, rows: Places| rows.iter().any(|place| marks.0[*place]).into())
}
