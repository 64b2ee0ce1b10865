//! The registers of the automaton and a block of sixteen steps, on words of any width.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use super::guess::SlotBalance;
use crate::simd::array_of;

/// Steps in a block.
pub const BLOCK: usize = 16;

/// Bits of a register below the first candidate, at the start of a block.
///
/// The register `twice` moves up by two a step and the first candidate by one, so half a block can pass before a step
/// reads bits that were below the register.
pub const PAD: usize = 8;

/// The word of a register.
pub trait Word:
    Copy
    + PartialEq
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    const ONES: Self;
    /// A block is exact if the register `twice` is all ones from this bit on at its start: sixteen steps move it up by
    /// 32 bits, and bit `BITS - 1` must stay set.
    const REACH: u32;
    /// The lowest bit that is set.
    fn lowest(self) -> Self;
    /// Shifts down and repeats the top bit.
    fn shift_signed(self, by: u32) -> Self;
    fn low(self) -> u64;
    /// Widens a mask by repeating its top bit.
    fn repeat(mask: u64) -> Self;
    /// Packs a word with one bit or none into 64 bits: see [`unpick`].
    fn pick(self) -> u64;
    /// Loads the bits of a row from byte `at` on.
    fn load(row: &SpanRow, at: usize) -> Self;
}

impl Word for u64 {
    const ONES: u64 = u64::MAX;
    const REACH: u32 = 31;

    #[inline(always)]
    fn lowest(self) -> u64 {
        self & self.wrapping_neg()
    }

    #[inline(always)]
    fn shift_signed(self, by: u32) -> u64 {
        (self as i64 >> by) as u64
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self
    }

    #[inline(always)]
    fn repeat(mask: u64) -> u64 {
        mask
    }

    #[inline(always)]
    fn pick(self) -> u64 {
        self
    }

    #[inline(always)]
    fn load(row: &SpanRow, at: usize) -> u64 {
        row.load(at)
    }
}

impl Word for u128 {
    const ONES: u128 = u128::MAX;
    const REACH: u32 = 95;

    fn lowest(self) -> u128 {
        self & self.wrapping_neg()
    }

    fn shift_signed(self, by: u32) -> u128 {
        (self as i128 >> by) as u128
    }

    fn low(self) -> u64 {
        self as u64
    }

    fn repeat(mask: u64) -> u128 {
        mask as i64 as i128 as u128
    }

    fn pick(self) -> u64 {
        if self >> 64 == 0 { self as u64 } else { (self >> 63) as u64 | 1 }
    }

    fn load(row: &SpanRow, at: usize) -> u128 {
        u128::from(row.load(at)) | u128::from(row.load(at + 8)) << 64
    }
}

/// The index of the bit that [`Word::pick`] packed. Bit 0 is never a candidate, so together with another bit it means
/// that the index is 63 higher.
#[inline(always)]
pub fn unpick(pick: u64) -> u64 {
    63 - u64::from(pick.leading_zeros()) + 63 * (pick & 1)
}

/// What the sixteen steps of a block read and write besides the registers. One pointer reaches all of it, and its
/// vectors do not straddle cache lines.
#[repr(C, align(64))]
pub struct Block {
    /// The candidate bits of each heap: those from `PAD + j` on if heap `j` is unused, else none.
    pub open: [u64; BLOCK],
    /// The lower partner of each heap as a bit of the register; zero if it has none.
    pub picks: [u64; BLOCK],
}

impl Block {
    /// A block without candidates.
    pub const fn new() -> Self {
        Block { open: [0; BLOCK], picks: [0; BLOCK] }
    }
}

/// The registers: a set bit forbids a candidate. Bit `PAD + i` is the candidate `m = n + d + i` at the start of a
/// block.
///
/// Inside a block bits keep their `m`, so `used` stays in place while the others move up: `difference` by one a step,
/// `twice` by two, each row of `sum` by one every other step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegisterSet<W> {
    /// `m`
    pub used: W,
    /// `m - n`
    pub difference: W,
    /// `m - 2n`, for the first half of the block.
    pub twice: W,
    /// `m - 2n` at the start of the second half of the block: includes what was below the register at the start.
    pub late: W,
    /// `2m - n` by the parity of `n`.
    pub sum: [W; 2],
}

impl<W: Word> RegisterSet<W> {
    /// A function of the registers of both sets.
    #[inline(always)]
    pub fn zip<V: Copy, R: Copy>(self, other: RegisterSet<V>, f: impl Fn(W, V) -> R) -> RegisterSet<R> {
        RegisterSet {
            used: f(self.used, other.used),
            difference: f(self.difference, other.difference),
            twice: f(self.twice, other.twice),
            late: f(self.late, other.late),
            sum: [f(self.sum[0], other.sum[0]), f(self.sum[1], other.sum[1])],
        }
    }

    /// Adds older marks.
    #[inline(always)]
    pub fn with(self, old: Self) -> Self {
        self.zip(old, |own, old| own | old)
    }

    /// Leaves out older marks.
    pub fn without(self, old: Self) -> Self {
        self.zip(old, |own, old| own & !old)
    }

    /// Whether a block that starts here is exact in registers of this width.
    #[inline(always)]
    pub fn is_exact(&self) -> bool {
        self.twice.shift_signed(W::REACH) == W::ONES
    }

    /// Runs sixteen steps. Returns how far `d` may grow.
    #[inline(always)]
    pub fn steps(&mut self, block: &mut Block) -> u32 {
        for j in 0..BLOCK {
            if j == BLOCK / 2 {
                self.twice = self.twice | self.late;
            }
            let blocked = self.used | self.difference | self.twice | self.sum[j % 2];
            let pick = (!blocked & W::repeat(block.open[j])).lowest();
            block.picks[j] = pick.pick();
            self.used = self.used | pick;
            self.difference = (self.difference | pick) << 1;
            self.twice = (self.twice | pick) << 2;
            self.sum[j % 2] = (self.sum[j % 2] | pick) << 1;
        }
        growth((self.difference >> BLOCK as u32).low())
    }

    /// The registers of the next block, given those after sixteen steps, with `d` grown by `growth`.
    #[inline(always)]
    pub fn next(&self, growth: u32) -> RegisterSet<W> {
        let by = BLOCK as u32 + growth;
        RegisterSet {
            used: self.used >> by,
            difference: self.difference >> by,
            twice: self.twice.shift_signed(by),
            late: self.twice.shift_signed(growth),
            sum: [self.sum[0] >> by, self.sum[1] >> by],
        }
    }
}

/// Steps after which assembly and lanes measure how far `d` may grow, so that both reach the same states: early enough for the
/// addresses of the next block's marks to be known in time.
#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub const EARLY: usize = 12;

/// How far `d` may grow, in whole bytes and at most 16 bits, given `difference` as it would be at the start of a block.
#[inline(always)]
pub fn growth(difference: u64) -> u32 {
    (!(difference >> PAD) | 1 << BLOCK).trailing_zeros() & !7
}

/// The registers between blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Registers {
    Narrow(RegisterSet<u64>),
    Wide(RegisterSet<u128>),
}

impl Registers {
    /// `d` and the registers of a guess at heap `n`, where no positions are known but the old ones: all slots before
    /// those of the balance are taken, and none after them.
    pub fn guess(n: u64, balance: &SlotBalance) -> (u64, Self) {
        let SlotBalance { x1, x2, .. } = *balance;
        let d = x1 & !7;
        // The bit of the register that stands for `2n - m = x2 - 1`.
        let below = n - d + PAD as u64 + 1 - x2;
        let ones_from = |bit: u64| u64::MAX.checked_shl(bit as u32).unwrap_or(0);
        let window = RegisterSet {
            used: 0,
            difference: !ones_from(PAD as u64 + x1 - d),
            twice: ones_from(below),
            late: ones_from(below + BLOCK as u64),
            sum: [0; 2],
        };
        (d, Registers::Narrow(window))
    }

    /// The marks in 128 bits.
    pub fn wide(&self) -> RegisterSet<u128> {
        match self {
            Registers::Wide(window) => *window,
            // Further up, `late` has what `twice` has.
            Registers::Narrow(window) => {
                RegisterSet { twice: u128::repeat(window.twice), ..window.zip(*window, |word, _| word.into()) }
            }
        }
    }
}

impl RegisterSet<u128> {
    /// The marks in 64 bits, if none is lost: those from bit 48 on would leave the top within a block.
    pub fn narrow(&self, old: &Self) -> Option<RegisterSet<u64>> {
        (self.own(old) >> 48 == 0 && self.twice.shift_signed(u64::REACH) == u128::MAX).then(|| self.low())
    }

    /// [`Self::narrow`] between two blocks, if `twice` need not be narrow enough for the next.
    pub fn cut(&self, old: &Self) -> Option<RegisterSet<u64>> {
        (self.own(old) >> 48 == 0 && self.twice.shift_signed(63) == u128::MAX).then(|| self.low())
    }

    /// Marks that are not old, except those of `twice`.
    fn own(&self, old: &Self) -> u128 {
        let RegisterSet { used, difference, sum: [even, odd], .. } = self.without(*old);
        used | difference | even | odd
    }

    fn low(&self) -> RegisterSet<u64> {
        self.zip(*self, |word, _| word.low())
    }
}

/// Bytes in a row: several spans' advance, so the kept part seldom moves to the beginning.
const BYTES: usize = 1024;

/// The most words that are read together.
const READ: usize = 8;

/// A row of bits. Assembly relies on the bits coming first.
#[repr(transparent)]
pub struct SpanRow {
    /// Longer than `BYTES`, so that `READ` words can be read at each of the first `BYTES`.
    bytes: [u8; BYTES + 8 * READ],
}

impl SpanRow {
    /// A row of zeros.
    pub const fn new() -> Self {
        SpanRow { bytes: [0; BYTES + 8 * READ] }
    }

    /// The number of bits that fit.
    pub const BITS: usize = 8 * BYTES;

    /// The 64 bits at byte `at`, taken modulo the length: a mask costs less than a check.
    #[inline(always)]
    pub fn load(&self, at: usize) -> u64 {
        let at = at % BYTES;
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    /// Stores 64 bits at byte `at`.
    #[inline(always)]
    pub fn store(&mut self, at: usize, bits: u64) {
        let at = at % BYTES;
        self.bytes[at..at + 8].copy_from_slice(&bits.to_le_bytes());
    }

    /// Word `at`.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        self.load(8 * at)
    }

    /// The `N` words from `at` on, at most eight.
    #[inline(always)]
    pub fn words<const N: usize>(&self, at: usize) -> [u64; N] {
        const { assert!(N <= READ) };
        let at = 8 * at % BYTES;
        let (bytes, _) = self.bytes[at..at + 8 * N].as_chunks();
        array_of(|i| u64::from_le_bytes(bytes[i]))
    }

    /// `N` bytes from byte `at` on, which must lie in the row.
    #[inline(always)]
    pub fn bytes<const N: usize>(&self, at: usize) -> &[u8; N] {
        self.bytes[at..].first_chunk().expect("bytes of the row")
    }

    /// Replaces the bytes from `at` on.
    #[inline(always)]
    pub fn replace(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The 64 bytes at byte `at`.
    #[inline(always)]
    pub fn bytes_mut(&mut self, at: usize) -> &mut [u8; 64] {
        let at = at % BYTES;
        self.bytes[at..].first_chunk_mut().expect("64 bytes after the last")
    }

    /// Moves word `from` and all words after it to the beginning.
    pub fn drop_words(&mut self, from: usize) {
        self.bytes.copy_within(8 * from.min(BYTES / 8)..BYTES, 0);
    }

    /// Moves all words up by `by`; the last ones are lost.
    pub fn raise_words(&mut self, by: usize) {
        let by = 8 * by.min(BYTES / 8);
        self.bytes.copy_within(0..BYTES - by, by);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A block by the definition of its registers, for any number of bits.
    fn by_definition(window: &RegisterSet<u128>, open: &[bool; BLOCK]) -> [Option<usize>; BLOCK] {
        // Bit `q` of the first row is a fixed `m`. The others move up by 1, 2 and, for the row of their parity, 1/2 a
        // step.
        let set = |word: u128| (0..128).filter(|q| word >> q & 1 == 1).map(|q| q as i64).collect::<Vec<_>>();
        let (mut used, mut difference, mut twice) = (set(window.used), set(window.difference), set(window.twice));
        twice.extend(128..400);
        twice.extend(set(window.late).iter().map(|q| q - BLOCK as i64));
        let mut sum = window.sum.map(set);
        std::array::from_fn(|j| {
            let j = j as i64;
            let row = j as usize % 2;
            let at = |q: i64| [q, q - j, q - 2 * j, q - j / 2];
            let q = (PAD as i64 + j..128).find(|q| {
                let [a, b, c, d] = at(*q);
                !(used.contains(&a) || difference.contains(&b) || twice.contains(&c) || sum[row].contains(&d))
            });
            let q = q.filter(|_| open[j as usize])?;
            let [a, b, c, d] = at(q);
            used.push(a);
            difference.push(b);
            twice.push(c);
            sum[row].push(d);
            Some(q as usize)
        })
    }

    fn steps<W: Word>(mut window: RegisterSet<W>, open: &[bool; BLOCK]) -> [Option<usize>; BLOCK] {
        let mut block = Block::new();
        for (j, open) in open.iter().enumerate().filter(|(_, open)| **open) {
            block.open[j] = u64::from(*open) * (u64::MAX << (PAD + j));
        }
        window.steps(&mut block);
        block.picks.map(|pick| (pick != 0).then(|| unpick(pick) as usize))
    }

    /// Registers with random marks, dense or sparse, whose row `twice` is full from `reach` on.
    fn windows(reach: u32) -> impl Strategy<Value = (RegisterSet<u128>, [bool; BLOCK])> {
        let word = || {
            (any::<u128>(), any::<u128>(), any::<bool>()).prop_map(|(a, b, dense)| if dense { a | b } else { a & b })
        };
        let words = (word(), word(), word(), any::<u16>(), word(), word());
        (words, any::<[bool; BLOCK]>()).prop_map(move |((used, difference, twice, late, even, odd), open)| {
            let twice = twice | u128::MAX << reach;
            // What was below the register, and the register itself, sixteen bits further up.
            let late = u128::from(late) | twice << BLOCK;
            (RegisterSet { used, difference, twice, late, sum: [even, odd] }, open)
        })
    }

    proptest! {
        #[test]
        fn a_block_follows_the_definition_of_its_registers((window, open) in windows(u64::REACH)) {
            let want = by_definition(&window, &open);
            prop_assert!(window.low().is_exact());
            prop_assert_eq!(steps(window.low(), &open), want);
            prop_assert_eq!(steps(window, &open), want);
        }

        #[test]
        fn a_wide_block_does_too((window, open) in windows(u128::REACH)) {
            prop_assert!(window.is_exact());
            prop_assert_eq!(steps(window, &open), by_definition(&window, &open));
        }
    }
}
