//! `byte_table` with the two cuts that the source omits: a pair `(x,y)` with a used key is skipped, and the scan of a
//! pair stops at its first P-position, because it has only one. The scan starts at the hint and tests one candidate at
//! a time.
//!
//! Cost: a quarter of the baseline's triples, up to six tests each.
//! Bound: mispredicted branches.

use super::layers::{MarkTable, Visit, bytes, scan};
use super::{Positions, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};

struct Flags {
    flags: Vec<bool>,
    stride: usize,
}

impl Flags {
    #[inline(always)]
    fn is_marked(&self, row: usize, place: usize) -> bool {
        self.flags[row * self.stride + place]
    }
}

impl MarkTable for Flags {
    fn new(rows: usize, heaps: usize) -> Self {
        let stride = heaps + 1;
        Flags { flags: vec![false; rows * stride], stride }
    }

    #[inline(always)]
    fn mark(&mut self, row: usize, place: usize) {
        self.flags[row * self.stride + place] = true;
    }

    #[inline(always)]
    fn next_free(&self, row: usize, mut place: usize) -> usize {
        while self.is_marked(row, place) {
            place += 1;
        }
        place
    }
}

/// Rates: ns of the cube and of the square of the heaps.
pub fn cost(input: &StoneGame, _: CostContext, [cube, square]: [f64; 2]) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: cube * n * n * n + square * n * n, bytes: bytes(input, input.heaps() + 1) }
}

pub fn run(input: &StoneGame, run: &Run) -> Result<Positions, RunError> {
    scan(input, run, |marks: &Flags, &Visit { heaps, x, y, from, at_z, less_x, less_y }: &Visit| {
        let is_free = |z: &usize| {
            // The row that forbids the most comes first.
            let [gap_y, all] = less_x;
            !marks.is_marked(all, z - x)
                && !at_z.iter().any(|row| marks.is_marked(*row, *z))
                && !marks.is_marked(less_y, z - y)
                && !marks.is_marked(gap_y, z - x)
        };
        (from..heaps).find(is_free).unwrap_or(heaps)
    })
}
