//! The best public way: three arrays "next free line from here on" (used, difference, twice), kept short by path halving, and
//! one of bytes (sum). A candidate is pushed along by one array after another until none blocks it.
//!
//! Cost: a handful of jumps for each P-position; no certificate is needed.
//! Bound: cache misses in arrays of four bytes a line.
//! Source: the fastest published solutions of Project Euler 665.

use std::ops::RangeInclusive;

use super::lines::{Lines, scan};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, On, Run, Stop};

/// A set of numbers that answers "the first number from here on that is not in it".
struct NextFree(Vec<u32>);

impl NextFree {
    /// No members, room for `0..size`.
    fn new(size: usize) -> Self {
        NextFree((0..=size as u32).collect())
    }

    fn insert(&mut self, i: usize) {
        self.0[i] = i as u32 + 1;
    }

    fn contains(&self, i: usize) -> bool {
        self.0[i] as usize != i
    }

    /// The first number from `i` on that is not a member.
    #[inline(always)]
    fn first_free(&mut self, mut i: usize) -> usize {
        while self.0[i] as usize != i {
            let next = self.0[i] as usize;
            self.0[i] = self.0[next];
            i = self.0[i] as usize;
        }
        i
    }
}

struct UnionFind {
    used: NextFree,
    difference: NextFree,
    /// At `m - 2n + half`.
    twice: NextFree,
    sum: Vec<bool>,
    half: usize,
}

impl Lines for UnionFind {
    fn new(limit: usize) -> Self {
        let half = limit / 2;
        UnionFind {
            used: NextFree::new(limit + 2),
            difference: NextFree::new(limit + 2),
            twice: NextFree::new(half + limit + 2),
            sum: vec![false; 2 * limit + 2],
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
        self.sum[sum] = true;
    }

    fn is_used(&self, n: usize) -> bool {
        self.used.contains(n)
    }

    fn is_attacked(&self, n: usize, m: usize) -> bool {
        self.used.contains(m)
            || self.difference.contains(m - n)
            || self.twice.contains(self.half + m - 2 * n)
            || self.sum[2 * m - n]
    }
}

/// Pushes a candidate along until nothing blocks it: `push(m)` is the first one from `m` on that is not blocked for a
/// reason it has looked at, `m` itself if there is none.
#[inline(always)]
pub fn jump(candidates: RangeInclusive<usize>, mut push: impl FnMut(usize) -> usize) -> Option<usize> {
    let (mut m, last) = candidates.into_inner();
    while m <= last {
        let next = push(m);
        if next == m {
            return Some(m);
        }
        m = next;
    }
    None
}

fn find(lines: &mut UnionFind, n: usize, candidates: RangeInclusive<usize>) -> Option<usize> {
    let half = lines.half;
    let last = *candidates.end();
    jump(candidates, |m| {
        let m = n + lines.difference.first_free(m - n);
        let m = lines.twice.first_free(half + m - 2 * n) + 2 * n - half;
        if m > last {
            return m;
        }
        let m = lines.used.first_free(m);
        m + usize::from(m <= last && lines.sum[2 * m - n])
    })
}

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    let limit = input.limit() as f64;
    if 1.5 * limit >= f64::from(u32::MAX) - 4.0 {
        return Cost::IMPOSSIBLE; // line numbers are u32
    }
    Cost { ns: 16.5 * limit, bytes: 16.0 * limit }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    scan(input, run, find)
}
