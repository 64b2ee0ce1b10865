//! `Next free` in 64-ary trees of bits: one bit above each word of a row says whether the word is full, and so on up.
//! Each row in turn moves a candidate up to its next free line, until none blocks it.
//!
//! Cost: a handful of jumps for each P-position, each a walk through two or three levels. No certificate is needed.
//! Bound: dependent loads and mispredicted branches. One bit per line: a twentieth of the memory of `union_find`.

use super::next_free::{self, NextFree};
use super::tree::Tree;
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Run, RunError};

impl NextFree for Tree {
    fn new(size: usize) -> Self {
        Tree::new(size)
    }

    fn insert(&mut self, i: usize) {
        Tree::insert(self, i);
    }

    fn contains(&self, i: usize) -> bool {
        Tree::contains(self, i)
    }

    #[inline(always)]
    fn first_free(&mut self, i: usize) -> usize {
        Tree::first_free(self, i)
    }
}

/// Rate: ns of a unit of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [unit]: [f64; 1]) -> Cost {
    let limit = input.limit() as f64;
    input.published(unit * limit, 0.7 * limit)
}

pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
    next_free::run::<Tree>(input, run)
}
