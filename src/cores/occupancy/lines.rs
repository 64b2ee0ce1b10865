//! The two ways to look for the partner of `n`, over any representation of the occupied lines: every `m > n`, or only those
//! that the certificate leaves.

use std::ops::RangeInclusive;

use super::{ProportionateNim, Sink};
use crate::kernel::{Run, Stop};

/// The lines that P-positions found so far occupy.
///
/// Only positions within the limit `M` are ever marked, and that is enough: a candidate within the limit has a larger `n`
/// and a smaller `m` than a P-position beyond it, so none of their lines meet. Hence `n <= M/2`, and of the values `m - 2n`
/// only those from `-M/2` on are read.
pub trait Lines {
    /// No lines, room for all positions of at most `limit` in all.
    fn new(limit: usize) -> Self;
    /// Occupies the lines of `(n,m)`, `n <= m`.
    fn mark(&mut self, n: usize, m: usize);
    /// Whether a heap of `n` is used.
    fn is_used(&self, n: usize) -> bool;
    /// Whether the candidate is on an occupied line.
    fn is_attacked(&self, n: usize, m: usize) -> bool;
}

/// Lines that a certificate can be read off.
pub trait Certified: Lines {
    /// Whether a position has this difference.
    fn has_difference(&self, difference: usize) -> bool;
    /// Whether a position, in either order, has `m - 2n = -below`.
    fn has_below(&self, below: usize) -> bool;
}

/// Heaps between two looks at the progress counter.
const BLOCK: usize = 4096;

/// Looks for the partner of every `n` among all `m > n`: a quadratic scan.
#[inline(always)]
pub fn scan<L: Lines, S: Sink>(
    input: &ProportionateNim,
    run: &Run,
    mut find: impl FnMut(&mut L, usize, RangeInclusive<usize>) -> Option<usize>,
) -> Result<S, Stop> {
    drive(input, run, |lines: &mut L, n, last| find(lines, n, n + 1..=last))
}

/// Looks for the partner of `n` only where the certificate leaves room, and in the upper beam not at all.
#[inline(always)]
pub fn certified<L: Certified, S: Sink>(
    input: &ProportionateNim,
    run: &Run,
    mut find: impl FnMut(&mut L, usize, RangeInclusive<usize>) -> Option<usize>,
) -> Result<S, Stop> {
    // The mex of the differences, the mex of the values below zero, the number of upper positions.
    let (mut difference, mut below, mut upper) = (0, 0, 0);
    drive(input, run, |lines: &mut L, n, last| {
        while lines.has_difference(difference) {
            difference += 1;
        }
        while lines.has_below(below) {
            below += 1;
        }
        find(lines, n, n + difference..=last.min(2 * n - below)).or_else(|| {
            // A lower partner past `last` gets here as well; from then on every upper one is past it too.
            upper += 1;
            Some(2 * n + upper).filter(|m| *m <= last)
        })
    })
}

/// The test of one candidate after another.
#[inline(always)]
pub fn one_by_one<L: Lines>(lines: &mut L, n: usize, mut candidates: RangeInclusive<usize>) -> Option<usize> {
    candidates.find(|m| !lines.is_attacked(n, *m))
}

/// Visits every unused `n`; `partner(lines, n, last)` is its partner if that is at most `last`.
#[inline(always)]
fn drive<L: Lines, S: Sink>(
    input: &ProportionateNim,
    run: &Run,
    mut partner: impl FnMut(&mut L, usize, usize) -> Option<usize>,
) -> Result<S, Stop> {
    let limit = input.limit() as usize;
    let heaps = input.smaller_heaps() as usize;
    let mut lines = L::new(limit);
    let mut sink = S::default();
    sink.push([0, 0]);
    lines.mark(0, 0);
    for start in (0..heaps).step_by(BLOCK) {
        let end = heaps.min(start + BLOCK);
        for n in start..end {
            if !lines.is_used(n)
                && let Some(m) = partner(&mut lines, n, limit - n)
            {
                sink.push([n as u64, m as u64]);
                lines.mark(n, m);
            }
        }
        sink.advance(run, (end - start) as u64)?;
    }
    Ok(sink)
}
