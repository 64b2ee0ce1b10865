//! Two searches for the partner of `n`, over any representation of the occupied lines: among every `m > n`, or only
//! among those that the certificate leaves.

use std::ops::RangeInclusive;

use super::{Positions, ProportionateNim};
use crate::kernel::{Run, RunError};

/// The lines that the P-positions found so far occupy.
///
/// Only positions within the limit `M` are marked, which is enough: a candidate within the limit has a larger `n` and a
/// smaller `m` than a P-position beyond it, so they share no line. Hence `n <= M/2`, and of the values `m - 2n` only
/// those from `-M/2` on are read.
pub trait Lines {
    /// No lines; room for all positions of at most `limit` in all.
    fn new(limit: usize) -> Self;
    /// Occupies the lines of `(n,m)`, `n <= m`.
    fn mark(&mut self, n: usize, m: usize);
    /// Whether a heap of `n` is used.
    fn is_used(&self, n: usize) -> bool;
    /// Whether the candidate is on an occupied line.
    fn is_attacked(&self, n: usize, m: usize) -> bool;
}

/// Lines that can answer what the certificate needs.
pub trait Certified: Lines {
    /// Whether a position has this difference.
    fn has_difference(&self, difference: usize) -> bool;
    /// Whether a position, in either order, has `m - 2n = -below`.
    fn has_below(&self, below: usize) -> bool;
}

/// Heaps between two reports of progress, which also check for cancellation.
pub const HEAPS_PER_CHECK: usize = 4096;

/// The search of a kernel.
pub trait Find<L> {
    /// The first candidate `m` for `n` on no occupied line.
    fn find(&mut self, lines: &mut L, n: usize, candidates: RangeInclusive<usize>) -> Option<usize>;
}

impl<L, F: FnMut(&mut L, usize, RangeInclusive<usize>) -> Option<usize>> Find<L> for F {
    #[inline(always)]
    fn find(&mut self, lines: &mut L, n: usize, candidates: RangeInclusive<usize>) -> Option<usize> {
        self(lines, n, candidates)
    }
}

/// Among which candidates a kernel searches that can do it either way.
pub trait Candidates {
    /// What finds partners, given the search of the kernel.
    fn partner<L: Certified>(self, find: impl Find<L>) -> impl Partner<L>;
}

/// As [`scan`] does.
pub mod every {
    use super::*;

    struct Every;

    impl Candidates for Every {
        #[inline(always)]
        fn partner<L: Certified>(self, find: impl Find<L>) -> impl Partner<L> {
            Anywhere(find)
        }
    }

    pub fn parts() -> impl Candidates {
        Every
    }
}

/// As [`certified`] does.
pub mod certificate {
    use super::*;

    struct WithCertificate;

    impl Candidates for WithCertificate {
        #[inline(always)]
        fn partner<L: Certified>(self, find: impl Find<L>) -> impl Partner<L> {
            Certificate::new(find)
        }
    }

    pub fn parts() -> impl Candidates {
        WithCertificate
    }
}

/// Searches for the partner of every `n` among all `m > n`: a quadratic scan.
#[inline(always)]
pub fn scan<L: Lines>(input: &ProportionateNim, run: &Run, find: impl Find<L>) -> Result<Positions, RunError> {
    drive(input, run, Anywhere(find))
}

/// Searches for the partner of `n` only where the certificate leaves room. The upper beam needs no search.
#[inline(always)]
pub fn certified<L: Certified>(input: &ProportionateNim, run: &Run, find: impl Find<L>) -> Result<Positions, RunError> {
    drive(input, run, Certificate::new(find))
}

/// Finds the partner of an unused `n`, if it is at most `last`. A trait, because a closure of this length is not always
/// inlined and then keeps its state in memory: 8 % of the time of `window_certificate`.
pub trait Partner<L> {
    fn partner(&mut self, lines: &mut L, n: usize, last: usize) -> Option<usize>;
}

/// See [`scan`].
struct Anywhere<F>(F);

impl<L, F: Find<L>> Partner<L> for Anywhere<F> {
    #[inline(always)]
    fn partner(&mut self, lines: &mut L, n: usize, last: usize) -> Option<usize> {
        self.0.find(lines, n, n + 1..=last)
    }
}

/// See [`certified`].
struct Certificate<F> {
    find: F,
    /// The mex of the differences.
    difference: usize,
    /// The smallest `v` such that `-v` is free among the values `m - 2n`.
    below: usize,
    /// Upper positions found so far.
    upper: usize,
}

impl<F> Certificate<F> {
    #[inline(always)]
    fn new(find: F) -> Self {
        Certificate { find, difference: 0, below: 0, upper: 0 }
    }
}

impl<L: Certified, F: Find<L>> Partner<L> for Certificate<F> {
    #[inline(always)]
    fn partner(&mut self, lines: &mut L, n: usize, last: usize) -> Option<usize> {
        while lines.has_difference(self.difference) {
            self.difference += 1;
        }
        while lines.has_below(self.below) {
            self.below += 1;
        }
        self.find.find(lines, n, n + self.difference..=last.min(2 * n - self.below)).or_else(|| {
            // A lower partner past `last` ends here as well; from then on every upper one is past it too.
            self.upper += 1;
            Some(2 * n + self.upper).filter(|m| *m <= last)
        })
    }
}

/// Tests one candidate after another.
#[inline(always)]
pub fn one_by_one<L: Lines>(lines: &mut L, n: usize, mut candidates: RangeInclusive<usize>) -> Option<usize> {
    candidates.find(|m| !lines.is_attacked(n, *m))
}

/// Visits every unused `n`.
#[inline(always)]
pub fn drive<L: Lines>(
    input: &ProportionateNim,
    run: &Run,
    mut partner: impl Partner<L>,
) -> Result<Positions, RunError> {
    let mut sink = input.sink();
    let limit = input.limit() as usize;
    let heaps = input.smaller_heaps() as usize;
    let mut lines = L::new(limit);
    sink.push([0, 0]);
    lines.mark(0, 0);
    for start in (0..heaps).step_by(HEAPS_PER_CHECK) {
        let end = heaps.min(start + HEAPS_PER_CHECK);
        for n in start..end {
            if !lines.is_used(n)
                && let Some(m) = partner.partner(&mut lines, n, limit - n)
            {
                sink.push([n as u64, m as u64]);
                lines.mark(n, m);
            }
        }
        sink.advance(run, (end - start) as u64)?;
    }
    Ok(sink)
}
