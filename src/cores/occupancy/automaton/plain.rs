//! What a tier may replace of the automaton, as a table of functions, and these functions in plain Rust.

use super::bit_queue::BitQueue;
use super::block::{BLOCK, PAD, RegisterSet, Registers};
use super::engine::{BLOCKS, Blocks, Span, WORDS};
use super::engine::{Engine, Sources};
pub use super::upper_beam::append_plain as append;
use crate::kernel::RunError;
use crate::machine::isa::tier;
use crate::simd::bits::WORD;

/// What a kernel does with each span, compiled for its tier. All else is compiled once.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    /// [`Engine::prepare`], with old marks on queues.
    pub prepare: fn(&mut Engine, Sources<'_, BitQueue>) -> Option<()>,
    /// [`Engine::blocks`].
    pub blocks: fn(&mut Engine) -> Result<(), RunError>,
    /// [`Engine::lower`].
    pub lower: fn(&Engine) -> [u64; WORDS],
    /// [`sum_of_bits`].
    pub sum_of_bits: fn(&[u64; WORDS]) -> [u64; 2],
}

/// [`Loops`] of functions that do what those of this file do. Each is called by a closure, which has the CPU features of the function
/// that this is in.
macro_rules! loops {
    ($append:path, $interleave:path, $open:path, $blocks:path, $lower:path, $sum_of_bits:path) => {
        $crate::cores::occupancy::automaton::plain::Loops {
            prepare: $crate::cores::occupancy::automaton::plain::prepare!($append, $interleave),
            blocks: |engine| {
                engine.blocks(|used, blocks| $open(used, blocks), |span, window, block| $blocks(span, window, block))
            },
            lower: |engine| engine.lower(|blocks| $lower(blocks)),
            sum_of_bits: |words| $sum_of_bits(words),
        }
    };
}
pub(in crate::cores::occupancy) use loops;

/// [`Engine::prepare`] with functions of a tier, for any bit strings.
macro_rules! prepare {
    ($append:path, $interleave:path) => {
        |engine, sources| {
            engine.prepare(
                sources,
                |row, end, flags, substitution| $append(row, end, flags, substitution),
                |even, odd| $interleave(even, odd),
            )
        }
    };
}
pub(in crate::cores::occupancy) use prepare;

pub fn parts() -> Loops {
    loops!(append, interleave, open, blocks, lower, sum_of_bits)
}

/// Runs the blocks of a span from `block` on while they are exact in 64-bit registers. Returns the first that is not.
#[inline(always)]
pub fn blocks(span: &mut Span, window: &mut RegisterSet<u64>, block: usize) -> usize {
    span.run(window, block, |_, _, _| false)
}

/// Opens the candidates of those of 64 heaps that are unused.
#[inline(always)]
pub fn open(used: u64, blocks: &mut Blocks) {
    for (i, block) in blocks.iter_mut().enumerate() {
        for (j, open) in block.open.iter_mut().enumerate() {
            *open = (used >> (BLOCK * i + j) & 1).wrapping_sub(1) & u64::MAX << (PAD + j);
        }
    }
}

/// Which of 64 heaps have a lower partner.
#[inline(always)]
pub fn lower(blocks: &Blocks) -> u64 {
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
pub fn sum_of_bits(words: &[u64; WORDS]) -> [u64; 2] {
    let mut total = [0; 2];
    for (i, word) in words.iter().enumerate() {
        let [count, sum] = sum_of_word(*word);
        total = [total[0] + count, total[1] + sum + count * (WORD * i) as u64];
    }
    total
}

/// The number of set bits of a word, and the sum of their indices.
#[inline(always)]
pub fn sum_of_word(word: u64) -> [u64; 2] {
    let mut sum = 0;
    for (digit, numbers) in DIGITS.iter().enumerate() {
        sum += u64::from((word & numbers).count_ones()) << digit;
    }
    [word.count_ones().into(), sum]
}

/// A word whose even bits are `even` and whose odd bits are `odd`.
#[inline(always)]
pub fn interleave(even: u32, odd: u32) -> u64 {
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

/// The same source, compiled with the tier's bit-manipulation instructions.
#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2 {
    use super::*;

    #[tier(Avx2)]
    pub fn parts() -> Loops {
        loops!(append, interleave, open, blocks, lower, sum_of_bits)
    }
}

impl Span {
    /// Runs all blocks, in registers as wide as they need, given what runs those in narrow ones.
    #[inline(always)]
    pub fn blocks(
        &mut self,
        registers: &mut Registers,
        narrow: impl Fn(&mut Span, &mut RegisterSet<u64>, usize) -> usize,
    ) -> Result<(), RunError> {
        let mut block = 0;
        loop {
            if let Registers::Narrow(window) = registers {
                block = narrow(self, window, block);
            }
            if block == BLOCKS {
                return Ok(());
            }
            block = self.wide_blocks(registers, block)?;
        }
    }

    /// Runs blocks from `block` on in 128-bit registers, until all marks fit 64-bit ones again. Returns the first that did not run.
    #[cold]
    fn wide_blocks(&mut self, registers: &mut Registers, block: usize) -> Result<usize, RunError> {
        let mut window = registers.wide();
        let block = self.run(&mut window, block, |span, cursor, marks| marks.narrow(&span.old(cursor)).is_some());
        *registers = Registers::Wide(window);
        if block < BLOCKS {
            let old = self.old(self.cursor);
            *registers = Registers::Narrow(window.with(old).narrow(&old).ok_or(RunError::Overflow)?);
        }
        Ok(block)
    }
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
