//! `Next free` in 64-ary trees of bits: above each word of a row stands one bit that says whether the word is full, and so on
//! up. A candidate is pushed along by one row after another until none blocks it.
//!
//! Cost: a handful of jumps for each P-position, each a walk of two or three levels; no certificate is needed.
//! Bound: dependent loads and mispredicted branches. A bit a line: a twentieth of the memory of `union_find`.

use std::ops::RangeInclusive;

use super::lines::{Lines, scan};
use super::tree::Tree;
use super::union_find::jump;
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, On, Run, Stop};

/// A tree for each family of lines that is searched, plain bits for the last.
struct Hierarchy {
    used: Tree,
    difference: Tree,
    /// At `m - 2n + half`.
    twice: Tree,
    sum: Tree,
    half: usize,
}

impl Lines for Hierarchy {
    fn new(limit: usize) -> Self {
        let half = limit / 2;
        Hierarchy {
            used: Tree::new(limit + 1),
            difference: Tree::new(limit + 1),
            twice: Tree::new(half + limit + 1),
            sum: Tree::new(2 * limit + 1),
            half,
        }
    }

    fn mark(&mut self, n: usize, m: usize) {
        let sum = 2 * m - n;
        self.used.insert(n);
        self.used.insert(m);
        self.difference.insert(m - n);
        self.twice.insert(self.half + m - 2 * n);
        if sum <= self.half {
            self.twice.insert(self.half - sum);
        }
        self.sum.insert(sum);
    }

    fn is_used(&self, n: usize) -> bool {
        self.used.contains(n)
    }

    fn is_attacked(&self, n: usize, m: usize) -> bool {
        self.used.contains(m)
            || self.difference.contains(m - n)
            || self.twice.contains(self.half + m - 2 * n)
            || self.sum.contains(2 * m - n)
    }
}

fn find(lines: &mut Hierarchy, n: usize, candidates: RangeInclusive<usize>) -> Option<usize> {
    let half = lines.half;
    jump(candidates, |m| {
        let m = n + lines.difference.first_free(m - n);
        let m = lines.twice.first_free(half + m - 2 * n) + 2 * n - half;
        let m = lines.used.first_free(m);
        m + usize::from(lines.sum.contains(2 * m - n))
    })
}

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    let limit = input.limit() as f64;
    Cost { ns: 15.4 * limit, bytes: 0.7 * limit }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    scan(input, run, find)
}
