//! One byte per line, every `m > n` tried in turn.
//!
//! Cost: the candidates of `hash_sets`, one or two loads each.
//! Bound: the loop of one test after another. LLVM does not vectorise a loop with an early exit.

use super::lines::{Certified, Lines, one_by_one, scan};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// One byte per line.
pub struct ByteTable {
    used: Vec<bool>,
    difference: Vec<bool>,
    /// At `m - 2n + half`.
    twice: Vec<bool>,
    sum: Vec<bool>,
    half: usize,
}

impl Lines for ByteTable {
    fn new(limit: usize) -> Self {
        let half = limit / 2;
        ByteTable {
            used: vec![false; limit + 1],
            difference: vec![false; limit + 1],
            twice: vec![false; half + limit + 1],
            sum: vec![false; 2 * limit + 1],
            half,
        }
    }

    #[inline(always)]
    fn mark(&mut self, n: usize, m: usize) {
        self.used[n] = true;
        self.used[m] = true;
        self.difference[m - n] = true;
        self.twice[self.half + m - 2 * n] = true;
        if 2 * m - n <= self.half {
            self.twice[self.half - (2 * m - n)] = true;
        }
        self.sum[2 * m - n] = true;
    }

    #[inline(always)]
    fn is_used(&self, n: usize) -> bool {
        self.used[n]
    }

    #[inline(always)]
    fn is_attacked(&self, n: usize, m: usize) -> bool {
        self.difference[m - n] || self.twice[self.half + m - 2 * n] || self.used[m] || self.sum[2 * m - n]
    }
}

impl Certified for ByteTable {
    #[inline(always)]
    fn has_difference(&self, difference: usize) -> bool {
        self.difference[difference]
    }

    #[inline(always)]
    fn has_below(&self, below: usize) -> bool {
        self.twice[self.half - below]
    }
}

/// Bytes of the tables.
pub fn bytes(input: &ProportionateNim) -> f64 {
    5.5 * input.limit() as f64
}

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(102.0 + 1.8 * limit + 0.0212 * limit * limit, bytes(input))
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, one_by_one::<ByteTable>)
}
