//! The parts of the automaton that a kernel may replace, with defaults in plain Rust.

use super::row::SpanRow;
use super::span::{BLOCKS, Blocks, Span, Steps, WORDS};
use super::substitution::{RowEnd, Substitution, append};
use super::window::{BLOCK, Block, PAD, Registers, Window};
use crate::kernel::RunError;
use crate::simd::bits::WORD;

/// The inner loops of the automaton: plain Rust, unless a kernel replaces them.
///
/// A trait, because a closure is not always inlined, and out of line it has the CPU features of the function that it is
/// written in; closures in plain Rust would have none. The methods are always inlined, so each tier compiles them anew.
pub trait InnerLoops: Copy {
    /// Runs the blocks of a span from `block` on while they are exact in 64-bit registers. Returns the first that is
    /// not.
    #[inline(always)]
    fn blocks(self, span: &mut Span, window: &mut Window<u64>, block: usize) -> usize {
        span.narrow_blocks(window, block, Plain)
    }
    /// Opens the candidates of those of 64 heaps that are unused.
    #[inline(always)]
    fn open(self, used: u64, blocks: &mut Blocks) {
        for (i, block) in blocks.iter_mut().enumerate() {
            for (j, open) in block.open.iter_mut().enumerate() {
                *open = (used >> (BLOCK * i + j) & 1).wrapping_sub(1) & u64::MAX << (PAD + j);
            }
        }
    }
    /// Which of 64 heaps have a lower partner.
    #[inline(always)]
    fn lower(self, blocks: &Blocks) -> u64 {
        let mut word = 0;
        for (i, block) in blocks.iter().enumerate() {
            for (j, pick) in block.picks.iter().enumerate() {
                word |= u64::from(*pick != 0) << (BLOCK * i + j);
            }
        }
        word
    }
    /// The number of set bits, and the sum of their indices.
    #[inline(always)]
    fn sum_of_bits(self, words: &[u64; WORDS]) -> [u64; 2] {
        let mut total = [0; 2];
        for (i, word) in words.iter().enumerate() {
            let [count, sum] = sum_of_bits(*word);
            total = [total[0] + count, total[1] + sum + count * (WORD * i) as u64];
        }
        total
    }
    /// Appends the image of flags to a row that ends at `end`.
    #[inline(always)]
    fn append(self, row: &mut SpanRow, end: RowEnd, flags: [u64; 2], substitution: &Substitution) {
        let Substitution { zeros, images, .. } = substitution;
        append(row, end, flags, *zeros, |flags| {
            let [low, high] = flags.to_le_bytes();
            let image = |flags: u8| u64::from(images[usize::from(flags)]);
            image(low) | image(high) << (zeros / 2 + low.count_ones())
        });
    }
    /// A word whose even bits are `even` and whose odd bits are `odd`.
    #[inline(always)]
    fn interleave(self, even: u32, odd: u32) -> u64 {
        let spread = |half: u32| {
            let mut word = u64::from(half);
            word = (word | word << 16) & 0x0000_ffff_0000_ffff;
            word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
            word = (word | word << 4) & 0x0f0f_0f0f_0f0f_0f0f;
            word = (word | word << 2) & 0x3333_3333_3333_3333;
            (word | word << 1) & 0x5555_5555_5555_5555
        };
        spread(even) | spread(odd) << 1
    }
}

impl Span {
    /// Runs all blocks, in registers as wide as they need.
    #[inline(always)]
    pub fn blocks(&mut self, registers: &mut Registers, inner: impl InnerLoops) -> Result<(), RunError> {
        let mut block = 0;
        while block < BLOCKS {
            match registers {
                Registers::Narrow(window) => {
                    block = inner.blocks(self, window, block);
                    if block < BLOCKS {
                        *registers = Registers::Wide(registers.wide());
                    }
                }
                Registers::Wide(window) => {
                    block = self.run(window, block, wide_steps, |span, cursor, marks| {
                        marks.narrow(&span.old(cursor)).is_some()
                    });
                    if block < BLOCKS {
                        let old = self.old(self.cursor);
                        *registers = Registers::Narrow(window.with(old).narrow(&old).ok_or(RunError::Overflow)?);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Out of line, because few blocks need it.
fn wide_steps(window: &mut Window<u128>, block: &mut Block) -> u32 {
    window.steps(block)
}

/// Plain Rust.
#[derive(Clone, Copy)]
pub struct Plain;

impl InnerLoops for Plain {}

/// Inner loops in closures, which have the CPU features of the function that they are written in.
#[derive(Clone, Copy)]
pub struct Closures<Blocks, Open, Lower, Sum, Append, Deposit> {
    /// [`InnerLoops::blocks`]
    pub blocks: Blocks,
    /// [`InnerLoops::open`]
    pub open: Open,
    /// [`InnerLoops::lower`]
    pub lower: Lower,
    /// [`InnerLoops::sum_of_bits`]
    pub sum_of_bits: Sum,
    /// [`InnerLoops::append`]
    pub append: Append,
    /// Puts the low bits of a word at the set bits of a mask (`pdep`).
    pub deposit: Deposit,
}

impl<B, O, L, S, A, D> InnerLoops for Closures<B, O, L, S, A, D>
where
    B: Fn(&mut Span, &mut Window<u64>, usize) -> usize + Copy,
    O: Fn(u64, &mut Blocks) + Copy,
    L: Fn(&Blocks) -> u64 + Copy,
    S: Fn(&[u64; WORDS]) -> [u64; 2] + Copy,
    A: Fn(&mut SpanRow, RowEnd, [u64; 2], &Substitution) + Copy,
    D: Fn(u64, u64) -> u64 + Copy,
{
    #[inline(always)]
    fn blocks(self, span: &mut Span, window: &mut Window<u64>, block: usize) -> usize {
        (self.blocks)(span, window, block)
    }

    #[inline(always)]
    fn open(self, used: u64, blocks: &mut Blocks) {
        (self.open)(used, blocks);
    }

    #[inline(always)]
    fn lower(self, blocks: &Blocks) -> u64 {
        (self.lower)(blocks)
    }

    #[inline(always)]
    fn sum_of_bits(self, words: &[u64; WORDS]) -> [u64; 2] {
        (self.sum_of_bits)(words)
    }

    #[inline(always)]
    fn append(self, row: &mut SpanRow, end: RowEnd, flags: [u64; 2], substitution: &Substitution) {
        (self.append)(row, end, flags, substitution);
    }

    #[inline(always)]
    fn interleave(self, even: u32, odd: u32) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        (self.deposit)(even.into(), EVEN) | (self.deposit)(odd.into(), !EVEN)
    }
}

impl Steps<u64> for Plain {
    #[inline(always)]
    fn steps(self, window: &mut Window<u64>, block: &mut Block) -> u32 {
        window.steps(block)
    }
}

/// The number of set bits of a word, and the sum of their indices.
#[inline(always)]
fn sum_of_bits(word: u64) -> [u64; 2] {
    let mut sum = 0;
    for (digit, numbers) in DIGITS.iter().enumerate() {
        sum += u64::from((word & numbers).count_ones()) << digit;
    }
    [word.count_ones().into(), sum]
}

/// For each binary digit, the bits of a word whose index has that digit set.
pub const DIGITS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_summed(words in any::<[u64; WORDS]>()) {
            let set = || (0..64 * WORDS as u64).filter(|i| words[*i as usize / WORD] >> (i % 64) & 1 == 1);
            prop_assert_eq!(Plain.sum_of_bits(&words), [set().count() as u64, set().sum()]);
        }

        #[test]
        fn words_are_interleaved(even in any::<u32>(), odd in any::<u32>()) {
            let word = Plain.interleave(even, odd);
            for i in 0..32 {
                prop_assert_eq!(word >> (2 * i) & 1, u64::from(even >> i & 1));
                prop_assert_eq!(word >> (2 * i + 1) & 1, u64::from(odd >> i & 1));
            }
        }
    }
}
