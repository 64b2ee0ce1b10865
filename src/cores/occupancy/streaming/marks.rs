//! The marks of the upper beam, made when they are read.
//!
//! The `k`-th upper P-position is `(n, 2n+k)` and occupies the lines `2n+k` (used), `n+k` (difference) and `3n+2k` (sum). As `n`
//! grows so does each of them, so the bits of a row are the flags "n is upper" under a *substitution*: for the difference
//! row every `n` becomes `0`, or `01` if it is upper; for the used row `00` or `010`; in the two parity rows of the sum a pair
//! of `n` becomes `000` and one `0` more for each upper one, with a mark in the row of its parity.

use super::inner::{Inner, Plain};
use super::row::Row;
use super::tape::Tape;

/// What flags become in one row: the row as sixteen flags that are all set would have it, where one place is left out for each
/// that is not set.
pub struct Substitution {
    /// Zeros that sixteen flags become if none is set.
    pub zeros: u32,
    /// The places that are there only if a flag is set.
    pub added: u64,
    /// The marks.
    pub marks: u64,
    /// What eight flags become.
    pub images: [u32; 256],
}

impl Substitution {
    const fn new(zeros: u32, added: u64, marks: u64) -> Self {
        Substitution { zeros, added, marks, images: images(added, marks) }
    }
}

/// Lines `2n+k`.
pub static USED: [Substitution; 1] = [Substitution::new(32, repeat(0b010, 3, 16), repeat(0b010, 3, 16))];
/// Lines `n+k`.
pub static DIFFERENCE: [Substitution; 1] = [Substitution::new(16, repeat(0b10, 2, 16), repeat(0b10, 2, 16))];
/// Lines `3n+2k`, by parity; row 1 has line `s` at `(s + 1) / 2`.
pub static SUM: [Substitution; 2] = [
    Substitution::new(24, repeat(0b10010, 5, 8), repeat(0b00010, 5, 8)),
    Substitution::new(24, repeat(0b10010, 5, 8), repeat(0b10000, 5, 8)),
];

/// A pattern so many times, one every `period` bits.
const fn repeat(pattern: u64, period: u32, times: u32) -> u64 {
    let (mut word, mut i) = (0, 0);
    while i < times {
        word |= pattern << (period * i);
        i += 1;
    }
    word
}

/// [`Substitution::images`].
const fn images(added: u64, marks: u64) -> [u32; 256] {
    let mut images = [0; 256];
    let mut flags = 0;
    while flags < 256 {
        let (mut flag, mut from, mut to) = (0, 0, 0);
        while flag < 8 {
            let is_added = added >> from & 1 == 1;
            if !is_added || flags >> flag & 1 == 1 {
                images[flags] |= ((marks >> from & 1) as u32) << to;
                to += 1;
            }
            flag += is_added as u32;
            from += 1;
        }
        flags += 1;
    }
    images
}

/// Where a row ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// Whole bytes written.
    pub length: usize,
    /// Bits of the last byte, zeros after them.
    pub fill: u32,
}

impl End {
    /// So many bits further on.
    #[inline(always)]
    pub fn after(self, bits: u32) -> End {
        let fill = self.fill + bits;
        End { length: self.length + (fill / 8) as usize, fill: fill % 8 }
    }

    /// The bits of the last byte.
    #[inline(always)]
    pub fn last(self, row: &Row) -> u64 {
        row.load(self.length) & 0xff
    }
}

/// Appends what flags become to a row, sixteen flags at once; `image` says what they become.
#[inline(always)]
pub fn append(row: &mut Row, mut end: End, flags: [u64; 2], zeros: u32, image: impl Fn(u16) -> u64) {
    let mut last = end.last(row);
    for flags in flags.iter().flat_map(|word| [*word, word >> 16, word >> 32, word >> 48]).map(|word| word as u16) {
        let bits = end.fill + zeros + flags.count_ones();
        last |= image(flags) << end.fill;
        row.store(end.length, last);
        last >>= bits & !7;
        end = End { fill: 0, ..end }.after(bits);
    }
}

/// A reader of the flags, which writes rows.
pub struct Reader<const ROWS: usize> {
    /// The number of the rows' first bit, a multiple of 64.
    pub start: u64,
    end: End,
    /// The word of flags to be read next, an even number.
    next: usize,
}

impl<const ROWS: usize> Reader<ROWS> {
    /// A reader at the first flag.
    pub const fn new() -> Self {
        Reader { start: 0, end: End { length: 0, fill: 0 }, next: 0 }
    }

    /// The number of the first bit that is not written.
    pub fn end(&self) -> u64 {
        self.start + 8 * self.end.length as u64 + u64::from(self.end.fill)
    }

    /// The word of flags to be read next.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Reads flags until all bits before `to` are known, and forgets those before `from` if it needs their room. `None` if a
    /// flag is missing, else the number of words forgotten.
    #[inline(always)]
    pub fn read(
        &mut self,
        substitutions: &[Substitution; ROWS],
        rows: &mut [Row; ROWS],
        flags: &Tape,
        from: u64,
        to: u64,
        inner: impl Inner,
    ) -> Option<usize> {
        let mut forgotten = 0;
        while self.end() < to {
            if self.end.length > Row::BITS / 8 - 64 {
                forgotten += self.forget(rows, from);
            }
            let flags = *flags.words(self.next)?;
            self.next += flags.len();
            for (row, substitution) in rows.iter_mut().zip(substitutions) {
                inner.append(row, self.end, flags, substitution);
            }
            let ones: u32 = flags.map(u64::count_ones).iter().sum();
            self.end = self.end.after(8 * substitutions[0].zeros + ones);
        }
        Some(forgotten)
    }

    /// Reads flags until all bits before `at` are known, and forgets them.
    pub fn start_at(&mut self, substitutions: &[Substitution; ROWS], rows: &mut [Row; ROWS], flags: &Tape, at: u64) {
        if self.read(substitutions, rows, flags, at, at, Plain).is_some() {
            self.forget(rows, at);
        }
    }

    /// Forgets whole words before bit `from`, and says how many.
    fn forget(&mut self, rows: &mut [Row; ROWS], from: u64) -> usize {
        let words = (from.min(self.end()) - self.start) as usize / 64;
        rows.iter_mut().for_each(|row| row.drop_words(words));
        self.start += 64 * words as u64;
        self.end.length -= 8 * words;
        words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tape::Pool;
    use super::*;

    /// The bits of a row, read in steps.
    fn rows<const ROWS: usize>(substitutions: &[Substitution; ROWS], flags: &[u64], step: u64) -> [Vec<bool>; ROWS] {
        let mut tape = Tape::new(usize::MAX);
        flags.iter().for_each(|word| tape.push(*word, &mut Pool::default()));
        let mut reader = Reader::<ROWS>::new();
        let mut written = [const { Row::new() }; ROWS];
        let mut out = [const { Vec::new() }; ROWS];
        let mut at = 0;
        while reader.read(substitutions, &mut written, &tape, at, at + step, Plain).is_some() {
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
            let [used] = rows(&USED, &flags, step);
            let [difference] = rows(&DIFFERENCE, &flags, step);
            let sum = rows(&SUM, &flags, step);
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
