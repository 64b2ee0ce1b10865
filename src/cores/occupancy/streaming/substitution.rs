//! The marks of the upper beam, made when they are read.
//!
//! The `k`-th upper P-position is `(n, 2n+k)` and occupies the lines `2n+k` (used), `n+k` (difference) and `3n+2k`
//! (sum). All three grow with `n`, so the bits of a row are the flags "n is upper" under a *substitution*. In the
//! difference row every `n` becomes `0`, or `01` if it is upper; in the used row `00` or `010`. In the two parity rows
//! of the sum a pair of `n` becomes `000` and one more `0` for each upper one, with a mark in the row of its parity.

use super::row::SpanRow;

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

    /// Where the image of heap `n` begins, an even number, given the number of upper heaps before it.
    pub fn bit(&self, n: u64, uppers: u64) -> u64 {
        n / 2 * u64::from(self.zeros / 8) + uppers
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
pub fn word_length<const ROWS: usize>(substitutions: &[Substitution; ROWS]) -> u64 {
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

/// Appends the image of the flags to a row, sixteen flags at a time, as `image` gives it.
#[inline(always)]
pub fn append(row: &mut SpanRow, mut end: RowEnd, flags: [u64; 2], zeros: u32, image: impl Fn(u16) -> u64) {
    let mut last = end.last(row);
    for flags in flags.iter().flat_map(|word| [*word, word >> 16, word >> 32, word >> 48]).map(|word| word as u16) {
        let bits = end.fill + zeros + flags.count_ones();
        last |= image(flags) << end.fill;
        row.store(end.length, last);
        last >>= bits & !7;
        end = RowEnd { fill: 0, ..end }.after(bits);
    }
}
