//! Families of lines that can find their next free line, over any set that supports it. In the search each family in
//! turn moves a candidate up to its next free line, until none blocks it.

use super::lines::{Lines, drive, every};
use super::rows::BitRow;
use super::{Positions, ProportionateNim};
use crate::kernel::{Run, RunError};

/// A set of numbers that can find its first gap from a number on.
pub trait NextFree {
    /// No members; room for `0..size`.
    fn new(size: usize) -> Self;
    fn insert(&mut self, i: usize);
    fn contains(&self, i: usize) -> bool;
    /// The first number from `i` on that is not a member, at most `size`. A query may shorten the path of later ones.
    fn first_free(&mut self, i: usize) -> usize;
}

/// A set for each family of lines that the search skips along, and plain bits for the last family.
struct FreeLines<F> {
    used: F,
    difference: F,
    /// At `m - 2n + half`.
    twice: F,
    sum: Vec<u64>,
    half: usize,
}

impl<F: NextFree> Lines for FreeLines<F> {
    #[inline(always)]
    fn mark(&mut self, n: usize, m: usize) {
        let sum = 2 * m - n;
        self.used.insert(n);
        self.used.insert(m);
        self.difference.insert(m - n);
        self.twice.insert(self.half + m - 2 * n);
        if sum <= self.half {
            self.twice.insert(self.half - sum);
        }
        self.sum.set(sum);
    }

    #[inline(always)]
    fn is_used(&self, n: usize) -> bool {
        self.used.contains(n)
    }

    #[inline(always)]
    fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
        let mut m = first;
        while m <= last {
            let next = self.push(n, m, last);
            if next == m {
                return Some(m);
            }
            m = next;
        }
        None
    }
}

impl<F: NextFree> FreeLines<F> {
    /// Moves `m` past the lines that block it, one family after another. Returns `m` itself if nothing blocks it, and a
    /// number past `last` if a family leads there.
    #[inline(always)]
    fn push(&mut self, n: usize, m: usize, last: usize) -> usize {
        let m = n + self.difference.first_free(m - n);
        let m = self.twice.first_free(self.half + m - 2 * n) + 2 * n - self.half;
        if m > last {
            return m;
        }
        let m = self.used.first_free(m);
        m + usize::from(m <= last && self.sum.get(2 * m - n))
    }
}

/// Finds the partner of every `n` among all `m > n`.
#[inline(always)]
pub fn run<F: NextFree>(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
    let limit = input.limit() as usize;
    let half = limit / 2;
    let lines = FreeLines {
        used: F::new(limit + 1),
        difference: F::new(limit + 1),
        twice: F::new(half + limit + 1),
        sum: BitRow::zeros(2 * limit + 1),
        half,
    };
    drive(input, run, lines, every::parts())
}
