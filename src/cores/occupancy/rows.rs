//! The four rows as bits, and windows of consecutive candidates in them.

use std::ops::RangeInclusive;

use super::lines::{Certified, Lines};
use crate::bits::WORD;

/// One row of bits.
pub trait Row {
    /// `bits` zeros.
    fn zeros(bits: usize) -> Self;
    /// Sets one bit.
    fn set(&mut self, bit: usize);
    /// Whether a bit is set.
    fn get(&self, bit: usize) -> bool;
    /// The words, bit `i` in bit `i % 64` of word `i / 64`.
    fn words(&self) -> &[u64];
}

impl Row for Vec<u64> {
    fn zeros(bits: usize) -> Self {
        vec![0; bits.div_ceil(WORD)]
    }

    #[inline(always)]
    fn set(&mut self, bit: usize) {
        self[bit / WORD] |= 1 << (bit % WORD);
    }

    #[inline(always)]
    fn get(&self, bit: usize) -> bool {
        self[bit / WORD] >> (bit % WORD) & 1 == 1
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        self
    }
}

/// A bit for each line. The row `sum` is split by parity: for one `n` the values `2m - n` have the parity of `n`, and so
/// consecutive `m` are consecutive bits in all four rows.
pub struct Rows<R = Vec<u64>> {
    used: R,
    difference: R,
    /// At `m - 2n + half`.
    twice: R,
    sum: [R; 2],
    half: usize,
}

/// The widest window, in bits.
pub const WIDEST: usize = 512;

/// The four rows that forbid candidates of one `n`, each with the bit that stands for `m = 0`, which may be negative.
pub type Window<'a> = [(&'a [u64], isize); 4];

impl<R: Row> Rows<R> {
    /// The rows as `n` reads them.
    #[inline(always)]
    pub fn window(&self, n: usize) -> Window<'_> {
        let (n, half) = (n as isize, self.half as isize);
        [
            (self.difference.words(), -n),
            (self.twice.words(), half - 2 * n),
            (self.used.words(), 0),
            (self.sum[n as usize % 2].words(), -((n + 1) / 2)),
        ]
    }

    /// The first free `m` in `candidates`, looked for in windows of `BITS`: `first_free(window, m)` is the number of
    /// blocked candidates from `m` on, at most `BITS`.
    #[inline(always)]
    pub fn find<const BITS: usize>(
        &self,
        n: usize,
        candidates: RangeInclusive<usize>,
        first_free: impl Fn(&Window<'_>, usize) -> usize,
    ) -> Option<usize> {
        const { assert!(BITS <= WIDEST) };
        let window = self.window(n);
        let (mut m, last) = candidates.into_inner();
        while m <= last {
            let blocked = first_free(&window, m);
            if blocked < BITS {
                return Some(m + blocked).filter(|m| *m <= last);
            }
            m += BITS;
        }
        None
    }
}

/// The bit that stands for candidate `m`.
#[inline(always)]
pub fn place(start: isize, m: usize) -> usize {
    (start + m as isize) as usize
}

impl<R: Row> Lines for Rows<R> {
    fn new(limit: usize) -> Self {
        let half = limit / 2;
        let row = |bits: usize| R::zeros(bits + WIDEST + WORD);
        Rows {
            used: row(limit + 1),
            difference: row(limit + 1),
            twice: row(half + limit + 1),
            sum: [row(limit + 1), row(limit + 1)],
            half,
        }
    }

    #[inline(always)]
    fn mark(&mut self, n: usize, m: usize) {
        let sum = 2 * m - n;
        self.used.set(n);
        self.used.set(m);
        self.difference.set(m - n);
        self.twice.set(self.half + m - 2 * n);
        if sum <= self.half {
            self.twice.set(self.half - sum);
        }
        self.sum[sum % 2].set(sum / 2);
    }

    #[inline(always)]
    fn is_used(&self, n: usize) -> bool {
        self.used.get(n)
    }

    #[inline(always)]
    fn is_attacked(&self, n: usize, m: usize) -> bool {
        let sum = 2 * m - n;
        self.difference.get(m - n)
            || self.twice.get(self.half + m - 2 * n)
            || self.used.get(m)
            || self.sum[sum % 2].get(sum / 2)
    }
}

impl<R: Row> Certified for Rows<R> {
    #[inline(always)]
    fn has_difference(&self, difference: usize) -> bool {
        self.difference.get(difference)
    }

    #[inline(always)]
    fn has_below(&self, below: usize) -> bool {
        self.twice.get(self.half - below)
    }
}

/// Bytes of the rows of a limit.
pub fn bytes(limit: u64) -> f64 {
    5.5 * limit as f64 / 8.0
}
