//! The marks of the upper beam, made when they are read.
//!
//! The `k`-th upper P-position is `(n, 2n+k)` and occupies the lines `2n+k` (used), `n+k` (difference) and `3n+2k`
//! (sum). All three grow with `n`, so the bits of a row are the flags "n is upper" under a *substitution*. In the
//! difference row every `n` becomes `0`, or `01` if it is upper; in the used row `00` or `010`. In the two parity rows
//! of the sum a pair of `n` becomes `000` and one more `0` for each upper one, with a mark in the row of its parity.

use super::bit_queue::{BitQueue, BitString};
use super::block::SpanRow;

/// The substitution of one row: the image of sixteen flags that are all set, from which each flag that is not set
/// removes one bit.
pub struct Substitution {
    /// The number of zeros that sixteen flags become if none is set.
    pub zeros: u32,
    /// The bits that are present only if a flag is set.
    pub added: u64,
    /// The marks.
    pub marks: u64,
    /// The image of each value of eight flags.
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

/// Repeats a pattern `times` times, once every `period` bits.
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

/// The bits that a word of flags becomes if none is set.
pub fn word_length(substitutions: &[Substitution]) -> u64 {
    u64::from(4 * substitutions[0].zeros)
}

/// Where a row ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowEnd {
    /// Whole bytes written.
    pub length: usize,
    /// Bits written into the last byte; zeros follow.
    pub fill: u32,
}

impl RowEnd {
    /// The end after `bits` more bits.
    #[inline(always)]
    pub fn after(self, bits: u32) -> RowEnd {
        let fill = self.fill + bits;
        RowEnd { length: self.length + (fill / 8) as usize, fill: fill % 8 }
    }

    /// The bits in the last byte.
    #[inline(always)]
    pub fn last(self, row: &SpanRow) -> u64 {
        row.load(self.length) & 0xff
    }
}

/// Appends the image of flags to a row that ends there: see [`append_plain`].
pub trait Append: Fn(&mut SpanRow, RowEnd, [u64; 2], &Substitution) + Copy {}

impl<F: Fn(&mut SpanRow, RowEnd, [u64; 2], &Substitution) + Copy> Append for F {}

/// Appends the image of the flags to a row, sixteen flags at a time, as `image` gives it.
#[inline(always)]
pub fn append(row: &mut SpanRow, mut end: RowEnd, flags: [u64; 2], zeros: u32, image: impl Fn(u16) -> u64) {
    let mut last = end.last(row);
    for part in 0..8 {
        let flags = (flags[part / 4] >> (16 * (part % 4))) as u16;
        let bits = end.fill + zeros + flags.count_ones();
        last |= image(flags) << end.fill;
        row.store(end.length, last);
        last >>= bits & !7;
        end = RowEnd { fill: 0, ..end }.after(bits);
    }
}

/// Appends the image of flags to a row that ends at `end`, by a table of the images of a byte.
#[inline(always)]
pub fn append_plain(row: &mut SpanRow, end: RowEnd, flags: [u64; 2], substitution: &Substitution) {
    let Substitution { zeros, images, .. } = substitution;
    append(row, end, flags, *zeros, |flags| {
        let [low, high] = flags.to_le_bytes();
        let image = |flags: u8| u64::from(images[usize::from(flags)]);
        image(low) | image(high) << (zeros / 2 + low.count_ones())
    });
}

/// Reads flags and writes rows, one for each substitution.
#[derive(Default)]
pub struct Reader {
    /// The number of the rows' first bit, a multiple of 64.
    pub start: u64,
    end: RowEnd,
    /// The word of flags that is read next, an even number.
    next: usize,
}

impl Reader {
    /// Begins at the word with bit `at`, which is known from its first bit on. `None` if the flags there are not known.
    pub fn at(substitutions: &[Substitution], rows: &mut [SpanRow], flags: &BitQueue, at: u64) -> Option<Self> {
        let seek = flags.find(word_length(substitutions), at / 64 * 64)?;
        let mut reader = Reader::from_word(substitutions, rows, seek);
        reader.read(substitutions, rows, flags, at, at, append_plain)?;
        reader.drop_before(rows, at);
        Some(reader)
    }

    /// A reader at word `next` of the flags, an even number, before which `uppers` flags are set. All that comes before is
    /// taken for zeros.
    pub fn from_word(substitutions: &[Substitution], rows: &mut [SpanRow], (next, uppers): (usize, u64)) -> Self {
        let bit = word_length(substitutions) * next as u64 + uppers;
        // The first bits belong to no word of flags.
        rows.iter_mut().for_each(|row| row.store(0, 0));
        Reader { start: bit / 64 * 64, end: RowEnd::default().after((bit % 64) as u32), next }
    }

    /// The number of the first bit not yet written.
    pub fn end(&self) -> u64 {
        self.start + 8 * self.end.length as u64 + u64::from(self.end.fill)
    }

    /// Reads flags until all bits before `to` are known, and drops those before `from` if their room is needed. Returns
    /// the number of words dropped, or `None` if a flag is missing.
    #[inline(always)]
    pub fn read(
        &mut self,
        substitutions: &[Substitution],
        rows: &mut [SpanRow],
        flags: &impl BitString,
        from: u64,
        to: u64,
        append: impl Append,
    ) -> Option<usize> {
        let mut dropped = 0;
        while self.end() < to {
            if self.end.length > SpanRow::BITS / 8 - 64 {
                dropped += self.drop_before(rows, from);
            }
            let flags: [u64; 2] = *flags.words(self.next)?;
            self.next += flags.len();
            for (row, substitution) in rows.iter_mut().zip(substitutions) {
                append(row, self.end, flags, substitution);
            }
            let ones = flags[0].count_ones() + flags[1].count_ones();
            self.end = self.end.after(8 * substitutions[0].zeros + ones);
        }
        Some(dropped)
    }

    /// Drops whole words before bit `from` and returns their number.
    fn drop_before(&mut self, rows: &mut [SpanRow], from: u64) -> usize {
        let words = (from.min(self.end()) - self.start) as usize / 64;
        rows.iter_mut().for_each(|row| row.drop_words(words));
        self.start += 64 * words as u64;
        self.end.length -= 8 * words;
        words
    }
}
