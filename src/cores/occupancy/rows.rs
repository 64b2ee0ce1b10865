//! The four rows as bits, and words of consecutive candidates in them.

use std::ops::RangeInclusive;

use super::lines::{Certified, Lines};
use crate::bits::{WORD, first_zero, funnel, window};

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
///
/// The three rows that are not indexed by `m` begin with a margin of a word, which candidates `m` in the word of `n + 1` that
/// are too small may fall into. For the differences it is full: they block every `m <= n`.
pub struct Rows<R = Vec<u64>> {
    used: R,
    difference: R,
    /// At `m - 2n + half`.
    twice: R,
    sum: [R; 2],
    half: usize,
}

/// The margin, in bits.
const MARGIN: usize = WORD;

/// The most words that are looked at together.
const WIDEST: usize = 8;

/// What forbids candidates of one `n`, in words of consecutive `m`: the first row lies in whole words, three lie across them.
///
/// The rows are cut to one length, so that a check of one place serves all of them.
pub struct Stretch<'a> {
    /// The row `used`.
    pub used: &'a [u64],
    /// The others.
    pub shifted: [Shifted<'a>; 3],
}

/// A row whose words begin inside words of memory.
#[derive(Clone, Copy)]
pub struct Shifted<'a> {
    /// The words in memory, one more than there are words of candidates.
    pub words: &'a [u64],
    /// The bit of the first word where the row begins.
    pub shift: usize,
}

impl Shifted<'_> {
    /// Candidates `64 at` to `64 at + 63`.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        funnel(self.words[at], self.words[at + 1], self.shift)
    }
}

impl<R: Row> Rows<R> {
    /// The three rows that lie across the words of `used`, each with the bit of candidate `m`.
    #[inline(always)]
    fn across(&self, n: usize, m: usize) -> [(&[u64], usize); 3] {
        [
            (self.difference.words(), MARGIN + m - n),
            (self.twice.words(), MARGIN + self.half + m - 2 * n),
            (self.sum[n % 2].words(), MARGIN + m - n.div_ceil(2)),
        ]
    }

    /// The first free `m` in `candidates`, looked for in windows that begin with the first of them.
    #[inline(always)]
    pub fn find(&self, n: usize, candidates: RangeInclusive<usize>) -> Option<usize> {
        let (mut m, last) = candidates.into_inner();
        while m <= last {
            let blocked = self.across(n, m).iter().fold(0, |word, (row, at)| word | window(row, *at));
            let free = first_zero(blocked | window(self.used.words(), m));
            if free < WORD {
                return Some(m + free).filter(|m| *m <= last);
            }
            m += WORD;
        }
        None
    }

    /// The first free `m` in `n + 1..=last`, looked for in whole words of `used`, `WORDS` together: `first_free(stretch, at)`
    /// is the number of blocked candidates from word `at` on, at most `64 WORDS`.
    #[inline(always)]
    pub fn scan<const WORDS: usize>(
        &self,
        n: usize,
        last: usize,
        first_free: impl Fn(&Stretch<'_>, usize) -> usize,
    ) -> Option<usize> {
        const { assert!(WORDS <= WIDEST) };
        let start = (n + 1) / WORD;
        let words = (last / WORD + 1).saturating_sub(start).next_multiple_of(WORDS);
        let stretch = Stretch {
            used: &self.used.words()[start..][..words],
            shifted: self
                .across(n, WORD * start)
                .map(|(row, at)| Shifted { words: &row[at / WORD..][..words + 1], shift: at % WORD }),
        };
        let mut at = 0;
        while at + WORDS <= words {
            let blocked = first_free(&stretch, at);
            if blocked < WORDS * WORD {
                return Some(WORD * (start + at) + blocked).filter(|m| *m <= last);
            }
            at += WORDS;
        }
        None
    }
}

impl<R: Row> Lines for Rows<R> {
    fn new(limit: usize) -> Self {
        let half = limit / 2;
        let row = |bits: usize| R::zeros(MARGIN + bits + WORD * (WIDEST + 1));
        let mut difference = row(limit + 1);
        (0..MARGIN).for_each(|bit| difference.set(bit));
        Rows {
            used: row(limit + 1),
            difference,
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
        self.difference.set(MARGIN + m - n);
        self.twice.set(MARGIN + self.half + m - 2 * n);
        if sum <= self.half {
            self.twice.set(MARGIN + self.half - sum);
        }
        self.sum[sum % 2].set(MARGIN + sum / 2);
    }

    #[inline(always)]
    fn is_used(&self, n: usize) -> bool {
        self.used.get(n)
    }

    #[inline(always)]
    fn is_attacked(&self, n: usize, m: usize) -> bool {
        let sum = 2 * m - n;
        self.difference.get(MARGIN + m - n)
            || self.twice.get(MARGIN + self.half + m - 2 * n)
            || self.used.get(m)
            || self.sum[sum % 2].get(MARGIN + sum / 2)
    }
}

impl<R: Row> Certified for Rows<R> {
    #[inline(always)]
    fn has_difference(&self, difference: usize) -> bool {
        self.difference.get(MARGIN + difference)
    }

    #[inline(always)]
    fn has_below(&self, below: usize) -> bool {
        self.twice.get(MARGIN + self.half - below)
    }
}

/// Bytes of the rows of a limit.
pub fn bytes(limit: u64) -> f64 {
    5.5 * limit as f64 / 8.0
}
