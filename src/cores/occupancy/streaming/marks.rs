//! The marks of the upper beam, made when they are read.
//!
//! The `k`-th upper P-position is `(n, 2n+k)` and occupies the lines `2n+k` (used), `n+k` (difference) and `3n+2k` (sum). As `n`
//! grows so does each of them, so the bits of a row are the flags "n is upper" under a *substitution*: for the difference
//! row every `n` becomes `0`, or `01` if it is upper; for the used row `00` or `010`; in the two parity rows of the sum a pair
//! of `n` becomes `000` and one `0` more for each upper one, with a mark in the row of its parity.

use super::inner::{Inner, Plain};
use super::row::Row;
use super::tape::Tape;

/// A substitution, as sixteen flags that are all set would have it. What is left out where a flag is not set is one place.
pub trait Family<const ROWS: usize> {
    /// Zeros that sixteen flags become if none is set.
    const LENGTH: u32;
    /// The places that are there only if a flag is set.
    const ADDED: u64;
    /// The marks of each row.
    const MARKS: [u64; ROWS];
    /// What eight flags become in each row.
    const IMAGES: &'static [[u32; ROWS]; 256];
}

/// Lines `2n+k`.
pub struct Used;
/// Lines `n+k`.
pub struct Difference;
/// Lines `3n+2k`, by parity; row 1 has line `s` at `(s + 1) / 2`.
pub struct Sum;

impl Family<1> for Used {
    const LENGTH: u32 = 32;
    const ADDED: u64 = repeat(0b010, 3, 16);
    const MARKS: [u64; 1] = [Self::ADDED];
    const IMAGES: &'static [[u32; 1]; 256] = &images(Self::ADDED, Self::MARKS);
}

impl Family<1> for Difference {
    const LENGTH: u32 = 16;
    const ADDED: u64 = repeat(0b10, 2, 16);
    const MARKS: [u64; 1] = [Self::ADDED];
    const IMAGES: &'static [[u32; 1]; 256] = &images(Self::ADDED, Self::MARKS);
}

impl Family<2> for Sum {
    const LENGTH: u32 = 24;
    const ADDED: u64 = repeat(0b10010, 5, 8);
    const MARKS: [u64; 2] = [repeat(0b00010, 5, 8), repeat(0b10000, 5, 8)];
    const IMAGES: &'static [[u32; 2]; 256] = &images(Self::ADDED, Self::MARKS);
}

/// A pattern so many times, one every `period` bits.
const fn repeat(pattern: u64, period: u32, times: u32) -> u64 {
    let (mut word, mut i) = (0, 0);
    while i < times {
        word |= pattern << (period * i);
        i += 1;
    }
    word
}

/// [`Family::IMAGES`].
const fn images<const ROWS: usize>(added: u64, marks: [u64; ROWS]) -> [[u32; ROWS]; 256] {
    let mut images = [[0; ROWS]; 256];
    let mut flags = 0;
    while flags < 256 {
        let (mut flag, mut from, mut to) = (0, 0, 0);
        while flag < 8 {
            let is_added = added >> from & 1 == 1;
            if !is_added || flags >> flag & 1 == 1 {
                let mut row = 0;
                while row < ROWS {
                    images[flags][row] |= ((marks[row] >> from & 1) as u32) << to;
                    row += 1;
                }
                to += 1;
            }
            flag += is_added as u32;
            from += 1;
        }
        flags += 1;
    }
    images
}

/// A reader of the flags, which writes rows.
pub struct Reader<const ROWS: usize> {
    /// The number of the rows' first bit, a multiple of 64.
    pub start: u64,
    /// Whole bytes written.
    length: usize,
    /// Bits of the last byte, and how many.
    last: [u64; ROWS],
    fill: u32,
    /// The word of flags to be read next.
    next: usize,
}

impl<const ROWS: usize> Reader<ROWS> {
    /// A reader at the first flag.
    pub const fn new() -> Self {
        Reader { start: 0, length: 0, last: [0; ROWS], fill: 0, next: 0 }
    }

    /// The number of the first bit that is not written.
    pub fn end(&self) -> u64 {
        self.start + 8 * self.length as u64 + u64::from(self.fill)
    }

    /// The word of flags to be read next.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Reads flags until all bits before `to` are known, and forgets those before `from` if it needs their room. `None` if a
    /// flag is missing, else the number of words forgotten.
    #[inline(always)]
    pub fn read<F: Family<ROWS>>(
        &mut self,
        rows: &mut [Row; ROWS],
        flags: &Tape,
        from: u64,
        to: u64,
        inner: impl Inner,
    ) -> Option<usize> {
        let mut forgotten = 0;
        while self.end() < to {
            if self.length > Row::BITS / 8 - 64 {
                forgotten += self.forget(rows, from);
            }
            let word = flags.get(self.next)?;
            self.next += 1;
            let (mut last, mut length, mut fill) = (self.last, self.length, self.fill);
            for flags in [word, word >> 16, word >> 32, word >> 48].map(|word| word as u16) {
                let images = inner.substitute::<F, ROWS>(flags);
                let end = fill + F::LENGTH + flags.count_ones();
                for row in 0..ROWS {
                    last[row] |= images[row] << fill;
                    rows[row].store(length, last[row]);
                    last[row] >>= end & !7;
                }
                length += (end / 8) as usize;
                fill = end % 8;
            }
            (self.last, self.length, self.fill) = (last, length, fill);
        }
        Some(forgotten)
    }

    /// Reads flags until all bits before `at` are known, and forgets them.
    pub fn start_at<F: Family<ROWS>>(&mut self, rows: &mut [Row; ROWS], flags: &Tape, at: u64) {
        if self.read::<F>(rows, flags, at, at, Plain).is_some() {
            self.forget(rows, at);
        }
    }

    /// Forgets whole words before bit `from`, and says how many.
    fn forget(&mut self, rows: &mut [Row; ROWS], from: u64) -> usize {
        let words = (from.min(self.end()) - self.start) as usize / 64;
        rows.iter_mut().for_each(|row| row.drop_words(words));
        self.start += 64 * words as u64;
        self.length -= 8 * words;
        words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tape::Pool;
    use super::*;

    /// The bits of a row, read in steps.
    fn rows<F: Family<ROWS>, const ROWS: usize>(flags: &[u64], step: u64) -> [Vec<bool>; ROWS] {
        let mut tape = Tape::new(usize::MAX);
        flags.iter().for_each(|word| tape.push(*word, &mut Pool::default()));
        let mut reader = Reader::<ROWS>::new();
        let mut written = [const { Row::new() }; ROWS];
        let mut out = [const { Vec::new() }; ROWS];
        let mut at = 0;
        while reader.read::<F>(&mut written, &tape, at, at + step, Plain).is_some() {
            for bit in at..at + step {
                let bit = (bit - reader.start) as usize;
                out.iter_mut().zip(&written).for_each(|(out, row)| out.push(row.load(bit / 8) >> (bit % 8) & 1 == 1));
            }
            at += step;
        }
        out
    }

    proptest! {
        #[test]
        fn rows_are_the_marks_of_the_flags(flags in prop::collection::vec(any::<u64>(), 1..80), step in 1_u64..900) {
            let set = |n: usize| flags[n / 64] >> (n % 64) & 1 == 1;
            let upper: Vec<(usize, usize)> = (0..64 * flags.len()).filter(|n| set(*n)).zip(1..).collect();
            let line = |bit: usize, line: &dyn Fn(usize, usize) -> usize| upper.iter().any(|(n, k)| line(*n, *k) == bit);
            let [used] = rows::<Used, 1>(&flags, step);
            let [difference] = rows::<Difference, 1>(&flags, step);
            let sum = rows::<Sum, 2>(&flags, step);
            for (bit, got) in used.iter().enumerate() {
                prop_assert_eq!(*got, line(bit, &|n, k| 2 * n + k));
            }
            for (bit, got) in difference.iter().enumerate() {
                prop_assert_eq!(*got, line(bit, &|n, k| n + k));
            }
            for (parity, row) in sum.iter().enumerate() {
                for (bit, got) in row.iter().enumerate() {
                    prop_assert_eq!(*got, line(2 * bit, &|n, k| 3 * n + 2 * k + parity));
                }
            }
        }
    }
}
