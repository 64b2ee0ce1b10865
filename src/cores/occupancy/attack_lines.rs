//! Two searches for the partner of `n`, over any representation of the occupied lines: among every `m > n`, or only
//! among those that the certificate leaves.

use std::ops::Range;

use super::{Positions, ProportionateNim};
use crate::kernel::{Run, RunError};

/// A set of numbers.
pub trait Set {
    /// No members; room for `0..size`.
    fn new(size: usize) -> Self;
    fn insert(&mut self, i: usize);
    fn contains(&self, i: usize) -> bool;
}

/// Even and odd numbers apart: for one `n` all values `2m - n` have the parity of `n`, so consecutive `m` are consecutive members.
impl<S: Set> Set for [S; 2] {
    fn new(size: usize) -> Self {
        [(); 2].map(|()| S::new(size / 2 + 1))
    }

    #[inline(always)]
    fn insert(&mut self, i: usize) {
        self[i % 2].insert(i / 2);
    }

    #[inline(always)]
    fn contains(&self, i: usize) -> bool {
        self[i % 2].contains(i / 2)
    }
}

/// The lines that the P-positions found so far occupy, in a set for each family.
///
/// Only positions within the limit `M` are marked, which is enough: a candidate within the limit has a larger `n` and a
/// smaller `m` than a P-position beyond it, so they share no line. Hence `n <= M/2`, and of the values `m - 2n` only
/// those from `-M/2` on are read.
pub struct Lines<S, T = S> {
    pub used: S,
    pub difference: S,
    /// At `m - 2n + half`.
    pub twice: S,
    pub sum: T,
    pub half: usize,
}

impl<S: Set, T: Set> Lines<S, T> {
    /// No lines; room for all positions of at most `limit` in all.
    pub fn new(limit: usize) -> Self {
        Self::with(limit, limit / 2)
    }

    /// [`Lines::new`] that keeps the values `m - 2n` from `-half` on.
    pub fn with(limit: usize, half: usize) -> Self {
        Lines {
            used: S::new(limit + 1),
            difference: S::new(limit + 1),
            twice: S::new(half + limit + 1),
            sum: T::new(2 * limit + 1),
            half,
        }
    }

    /// Occupies the lines of `(n,m)`, `n <= m`.
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
        self.sum.insert(sum);
    }
}

/// Lines that can be searched.
pub trait Search {
    /// The first candidate `m` for `n` from `first` to `last` that is on no occupied line.
    fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize>;
}

impl<S: Set> Lines<S> {
    #[inline(always)]
    fn is_attacked(&self, n: usize, m: usize) -> bool {
        self.difference.contains(m - n)
            || self.twice.contains(self.half + m - 2 * n)
            || self.used.contains(m)
            || self.sum.contains(2 * m - n)
    }
}

/// Tries every candidate.
impl<S: Set> Search for Lines<S> {
    #[inline(always)]
    fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
        (first..=last).find(|m| !self.is_attacked(n, *m))
    }
}

/// Finds the partner of an unused `n`, if it is at most `last`. A trait, because a closure of this length is not always
/// inlined and then keeps its state in memory: 8 % of the time of `window_certificate`.
pub trait Partner<L> {
    fn partner(&mut self, lines: &mut L, n: usize, last: usize) -> Option<usize>;
}

/// The search among all `m > n`: a quadratic scan.
pub mod every {
    use super::*;

    pub struct Every;

    impl<L: Search> Partner<L> for Every {
        #[inline(always)]
        fn partner(&mut self, lines: &mut L, n: usize, last: usize) -> Option<usize> {
            lines.find(n, n + 1, last)
        }
    }

    pub fn parts() -> Every {
        Every
    }
}

/// The search where the certificate leaves room. The upper beam needs none.
pub mod certificate {
    use super::*;

    pub struct Certificate {
        /// The mex of the differences.
        difference: usize,
        /// The smallest `v` such that `-v` is free among the values `m - 2n`.
        below: usize,
        /// Upper positions found so far.
        upper: usize,
    }

    impl<S: Set, T: Set> Partner<Lines<S, T>> for Certificate
    where
        Lines<S, T>: Search,
    {
        #[inline(always)]
        fn partner(&mut self, lines: &mut Lines<S, T>, n: usize, last: usize) -> Option<usize> {
            while lines.difference.contains(self.difference) {
                self.difference += 1;
            }
            while lines.twice.contains(lines.half - self.below) {
                self.below += 1;
            }
            let lower = lines.find(n, n + self.difference, last.min(2 * n - self.below));
            if lower.is_some() {
                return lower;
            }
            // A lower partner past `last` ends here as well; from then on every upper one is past it too.
            self.upper += 1;
            let upper = 2 * n + self.upper;
            if upper <= last { Some(upper) } else { None }
        }
    }

    pub fn parts() -> Certificate {
        Certificate { difference: 0, below: 0, upper: 0 }
    }
}

/// The smaller heaps of a run in blocks, and the positions found.
pub struct Heaps<'a> {
    run: &'a Run,
    pub sink: Positions,
    heaps: usize,
    /// The last block.
    block: Range<usize>,
}

impl<'a> Heaps<'a> {
    /// All heaps of a run.
    pub fn new(input: &ProportionateNim, run: &'a Run) -> Self {
        Heaps { run, sink: input.sink(), heaps: input.smaller_heaps() as usize, block: 0..0 }
    }

    /// The next block, if one is left. Reports the last one, which also checks for cancellation.
    pub fn next(&mut self) -> Result<Option<Range<usize>>, RunError> {
        const MOST: usize = 4096;
        let Range { start, end } = self.block;
        if start < end {
            self.sink.advance(self.run, (end - start) as u64)?;
        }
        self.block = end..self.heaps.min(end + MOST);
        Ok((end < self.heaps).then(|| self.block.clone()))
    }
}

/// Visits every unused `n`.
#[inline(always)]
pub fn drive<S: Set, T: Set>(
    input: &ProportionateNim,
    run: &Run,
    mut lines: Lines<S, T>,
    mut partner: impl Partner<Lines<S, T>>,
) -> Result<Positions, RunError> {
    let limit = input.limit() as usize;
    let mut heaps = Heaps::new(input, run);
    heaps.sink.push([0, 0]);
    lines.mark(0, 0);
    while let Some(block) = heaps.next()? {
        for n in block {
            if !lines.used.contains(n)
                && let Some(m) = partner.partner(&mut lines, n, limit - n)
            {
                heaps.sink.push([n as u64, m as u64]);
                lines.mark(n, m);
            }
        }
    }
    Ok(heaps.sink)
}
