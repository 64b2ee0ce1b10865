//! One byte per line, every `m > n` tried in turn, or only those that the certificate leaves: the plain program to beat.
//!
//! Cost: the candidates of `hash_sets`, one or two loads each. With the certificate about four candidates and six scattered byte
//! stores for each P-position.
//! Bound: the loop of one test after another. LLVM does not vectorise a loop with an early exit. With the certificate mispredicted
//! branches; beyond the cache, the seven streams of cache lines that the stores touch.

pub use super::hash_sets::needs;
use super::lines::{Certified, Lines, Partner, drive};
use super::{Positions, ProportionateNim};
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

impl ByteTable {
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
    fn is_attacked(&self, n: usize, m: usize) -> bool {
        self.difference[m - n] || self.twice[self.half + m - 2 * n] || self.used[m] || self.sum[2 * m - n]
    }
}

impl Lines for ByteTable {
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
    fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
        (first..=last).find(|m| !self.is_attacked(n, *m))
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

/// Rates: ns of a run, of a unit of the limit if the tables stay in the caches and if they do not, and of the square of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [start, small, large, square]: [f64; 4]) -> Cost {
    let limit = input.limit() as f64;
    let unit = if limit < 1e5 { small } else { large };
    input.published(start + unit * limit + square * limit * limit, 5.5 * limit)
}

#[inline(always)]
pub fn run(input: &ProportionateNim, run: &Run, partner: impl Partner<ByteTable>) -> Result<Positions, RunError> {
    drive(input, run, ByteTable::new(input.limit() as usize), partner)
}
