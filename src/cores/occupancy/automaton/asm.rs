//! The blocks in assembly.
//!
//! Idea: a step is a serial chain through the lowest zero of four registers. With care the chain is four cycles long:
//! `blsi`, a shift by `lea`, a register moved and marked by one `lea`, `andn`. LLVM reassociates the expression and
//! makes it longer. The order of the instructions matters as much: Zen 4 binds each to one of four units before it is
//! ready, so those of the chain wait behind others. Linking the blocks in assembly as well keeps all but the cursor in
//! registers: 45 instructions between two blocks.
//!
//! Cost: fifteen instructions a step, fourteen of which share the four integer units: 3.5 cycles.
//! Bound: the chain, four cycles a step at best and five and a quarter with the links between blocks. Preparing and
//! finishing spans takes more than half as long again, and the chain waits meanwhile. `NOTES.md` lists what was tried.
#![allow(unsafe_code, reason = "the blocks are inline assembly")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::offset_of;

use super::block::{BLOCK, Block, EARLY, PAD, RegisterSet, SpanRow, Word};
use super::engine::{BLOCKS, Blocks, Span, Spill};
use super::plain::{self, Loops, loops};
use super::upper_beam::{RowEnd, Substitution, append as append_by};
use crate::machine::isa::tier;
use crate::simd::avx2::load;

/// `free`: the candidates of this step that nothing forbids, then those of the next. `$mine`: the row of sums that this
/// step marks; `$other`: the one that the next step reads. `$late`: what else happens to `twice`.
macro_rules! step {
    ($j:literal, $mine:literal, $other:literal, $late:literal) => {
        concat!(
            // The part of the next step that does not depend on this one.
            "andn {next}, {used}, [{block} + 8 * ",
            $j,
            " + 8]\n",
            "shl {twice}, 2\n",
            $late,
            "andn {next}, {",
            $other,
            "}, {next}\n",
            "andn {next}, {twice}, {next}\n",
            // The pick, its marks, and what they leave for the next step.
            "blsi {b}, {free}\n",
            "lea {b4}, [4 * {b}]\n",
            "or {twice}, {b4}\n",
            "andn {free}, {b}, {next}\n",
            "or {used}, {b}\n",
            "andn {free}, {b4}, {free}\n",
            "lea {b2}, [{b} + {b}]\n",
            "mov [{block} + {PICKS} + 8 * ",
            $j,
            "], {b}\n",
            "lea {",
            $mine,
            "}, [{b2} + 2 * {",
            $mine,
            "}]\n",
            "lea {difference}, [{b2} + 2 * {difference}]\n",
            "andn {free}, {difference}, {free}\n",
        )
    };
    ($j:literal, $mine:literal, $other:literal) => {
        step!($j, $mine, $other, "")
    };
}

/// Bytes by which the registers move in the row `used` in a block, besides the growth of `d`, and backwards in `below`.
const MOVE: usize = BLOCK / 8;
/// The same in the rows of sums.
const SUM_MOVE: usize = BLOCK / 16;

/// [`plain::blocks`], including the links between blocks: there the compiler would spill half of the registers.
#[inline(never)]
#[tier(Avx2)]
pub fn blocks(span: &mut Span, window: &mut RegisterSet<u64>, block: usize) -> usize {
    let marks = window.with(span.old(span.cursor));
    if !marks.is_exact() || block >= BLOCKS {
        return block;
    }
    if !span.cursor.is_roomy() {
        return plain::blocks(span, window, block);
    }
    let RegisterSet { mut used, mut difference, mut twice, late, sum: [mut even, mut odd] } = marks;
    span.spill = Spill { block, late };
    let first = &raw mut span.blocks.as_flattened_mut()[block];
    // SAFETY: the code reads and changes only `span`, borrowed for this call, and the named registers.
    // - `block` runs from `first`, which is in bounds, to the end of the blocks, as `spill.block` counts. Of each block
    //   it reads the 16 words of `open` and writes the 16 of `picks` behind them (`repr(C)`).
    // - Rows are read and written eight bytes at a time, at the cursor and at `MOVE` bytes before `below`. In each of at
    //   most `BLOCKS` blocks the cursor moves by `growth / 8 <= 2` bytes and `MOVE`, `SUM_MOVE`, 0, or back by `MOVE`, so every access
    //   lies in the rows, as `is_roomy` checked (`SpanRow` begins with its bytes and has 64 more than `is_roomy` counts
    //   on).
    // - The instructions are those of BMI1 and BMI2.
    unsafe {
        asm!(
            ".p2align 5",
            "2:",
            "andn {free}, {even}, [{block}]",
            "andn {free}, {used}, {free}",
            "andn {free}, {difference}, {free}",
            "andn {free}, {twice}, {free}",
            step!("0", "even", "odd"),
            step!("1", "odd", "even"),
            step!("2", "even", "odd"),
            step!("3", "odd", "even"),
            step!("4", "even", "odd"),
            step!("5", "odd", "even"),
            step!("6", "even", "odd"),
            step!("7", "odd", "even", "or {twice}, [{span} + {LATE}]\n"),
            step!("8", "even", "odd"),
            step!("9", "odd", "even"),
            step!("10", "even", "odd"),
            step!("11", "odd", "even"),
            // The growth of `d` in bytes; `window::growth` computes it in bits.
            "mov {growth}, {difference}",
            step!("12", "even", "odd"),
            "shr {growth}, {EARLY} + {PAD}",
            "not {growth}",
            step!("13", "odd", "even"),
            "or {growth}, 1 << {BLOCK}",
            "tzcnt {growth}, {growth}",
            step!("14", "even", "odd"),
            "shr {growth}, 3",
            // The last step has no next one.
            "blsi {b}, {free}",
            "mov {next}, [{span} + {USED}]",
            "mov [{block} + {PICKS} + 8 * ({BLOCK} - 1)], {b}",
            "lea {b2}, [{b} + {b}]",
            "mov {b4}, [{span} + {NEXT}]",
            "lea {difference}, [{b2} + 2 * {difference}]",
            "or {used}, {b}",
            "mov [{span} + 8 * {b4} + {BEGINS}], {next}",
            "inc {b4}",
            "mov [{span} + {NEXT}], {b4}",
            // Complete marks are kept, as `Span::keep` does; registers move on, as `RegisterSet::next` does, and take in old
            // marks.
            "mov [{span} + {next} + {NEW}], {used}",
            "lea {next}, [{next} + {growth} + {MOVE}]",
            "or {twice}, {b}",
            "shl {twice}, 2",
            "lea {odd}, [{b2} + 2 * {odd}]",
            "mov [{span} + {USED}], {next}",
            "mov {b4}, [{span} + {SUM}]",
            "shr {even}, 8 * {SUM_MOVE}",
            "shr {odd}, 8 * {SUM_MOVE}",
            "mov [{span} + {b4} + {NEW} + {ROW}], {even}",
            "mov [{span} + {b4} + {NEW} + 2 * {ROW}], {odd}",
            "lea {b4}, [{b4} + {growth} + {SUM_MOVE}]",
            "lea {free}, [8 * {growth} + 8 * {SUM_MOVE}]",
            "mov [{span} + {SUM}], {b4}",
            "lea {b}, [8 * {growth} + 8 * {MOVE}]",
            "shrx {even}, {even}, {free}",
            "shrx {odd}, {odd}, {free}",
            "shrx {used}, {used}, {b}",
            "shrx {difference}, {difference}, {b}",
            "or {even}, [{span} + {b4} + {OLD_SUM}]",
            "or {odd}, [{span} + {b4} + {OLD_SUM} + {ROW}]",
            "or {used}, [{span} + {next} + {OLD_USED}]",
            "mov {b2}, [{span} + {DIFFERENCE}]",
            "add {b2}, {growth}",
            "mov [{span} + {DIFFERENCE}], {b2}",
            "or {difference}, [{span} + {b2} + {OLD_DIFFERENCE}]",
            "mov {next}, [{span} + {BELOW}]",
            "lea {next}, [{next} + {growth} - {MOVE}]",
            "shl {growth}, 3",
            "mov [{span} + {BELOW}], {next}",
            "sarx {free}, {twice}, {growth}",
            "or {free}, [{span} + {next} + {OLD_BELOW} - {MOVE}]",
            "sarx {twice}, {twice}, {b}",
            "or {twice}, [{span} + {next} + {OLD_BELOW}]",
            "mov [{span} + {LATE}], {free}",
            "add {block}, {SIZE}",
            // `RegisterSet::is_exact`
            "cmp {twice}, -1 << {REACH}",
            "jb 3f",
            "cmp qword ptr [{span} + {NEXT}], {BLOCKS}",
            "jne 2b",
            "3:",
            used = inout(reg) used,
            difference = inout(reg) difference,
            twice = inout(reg) twice,
            even = inout(reg) even,
            odd = inout(reg) odd,
            block = inout(reg) first => _,
            span = in(reg) &raw mut *span,
            growth = out(reg) _,
            free = out(reg) _,
            next = out(reg) _,
            b = out(reg) _,
            b2 = out(reg) _,
            b4 = out(reg) _,
            EARLY = const EARLY,
            MOVE = const MOVE,
            SUM_MOVE = const SUM_MOVE,
            REACH = const u64::REACH,
            PAD = const PAD,
            BLOCK = const BLOCK,
            BLOCKS = const BLOCKS,
            SIZE = const size_of::<Block>(),
            PICKS = const offset_of!(Block, picks),
            ROW = const size_of::<SpanRow>(),
            NEXT = const offset_of!(Span, spill.block),
            LATE = const offset_of!(Span, spill.late),
            BEGINS = const offset_of!(Span, begins),
            USED = const offset_of!(Span, cursor.used),
            DIFFERENCE = const offset_of!(Span, cursor.difference),
            SUM = const offset_of!(Span, cursor.sum),
            BELOW = const offset_of!(Span, cursor.below),
            OLD_USED = const offset_of!(Span, old.used),
            OLD_DIFFERENCE = const offset_of!(Span, old.difference),
            OLD_SUM = const offset_of!(Span, old.sum),
            OLD_BELOW = const offset_of!(Span, old.below),
            NEW = const offset_of!(Span, new),
            options(nostack),
        );
    }
    *window = RegisterSet { used, difference, twice, late: span.spill.late, sum: [even, odd] };
    span.spill.block
}

/// [`plain::lower`].
#[inline]
#[tier(Avx2)]
fn lower(blocks: &Blocks) -> u64 {
    let mut none = 0;
    for block in blocks.iter().rev() {
        for four in block.picks.as_chunks::<4>().0.iter().rev() {
            let mask = _mm256_cmpeq_epi64(load(four), _mm256_setzero_si256());
            none = none << 4 | _mm256_movemask_pd(_mm256_castsi256_pd(mask)) as u64;
        }
    }
    !none
}

/// `append_plain`, a substitution of sixteen flags in two instructions.
#[inline]
#[tier(Avx2)]
fn append(row: &mut SpanRow, end: RowEnd, flags: [u64; 2], Substitution { zeros, added, marks, .. }: &Substitution) {
    append_by(row, end, flags, *zeros, |flags| _pext_u64(*marks, !added | _pdep_u64(flags.into(), *added)));
}

/// [`plain::interleave`].
#[inline]
#[tier(Avx2)]
pub fn interleave(even: u32, odd: u32) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    _pdep_u64(even.into(), EVEN) | _pdep_u64(odd.into(), !EVEN)
}

#[tier(Avx2)]
pub fn parts() -> Loops {
    loops!(append, interleave, plain::open, blocks, lower, plain::sum_of_bits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::machine::isa::Tier;

    proptest! {
        #[test]
        #[ignore = "needs AVX2: .ci/run"]
        fn a_block_in_assembly_is_a_block_in_plain_rust(
            words in any::<[u64; 5]>(),
            more in any::<[u64; 5]>(),
            dense in any::<[bool; 5]>(),
            low in any::<u16>(),
            open in any::<u16>(),
        ) {
            assert!(Tier::Avx2.is_on_this_cpu(), "this CPU lacks AVX2");
            let word = |i: usize| if dense[i] { words[i] | more[i] } else { words[i] & more[i] };
            let twice = word(2) | u64::MAX << 31;
            let window = RegisterSet {
                used: word(0),
                difference: word(1),
                twice,
                late: twice << BLOCK | u64::from(low),
                sum: [word(3), word(4)],
            };
            let mut span = Span::new();
            let cursor = &mut span.cursor;
            [cursor.used, cursor.difference, cursor.sum, cursor.below] = [100, 200, 300, 400];
            let last = &mut span.blocks.as_flattened_mut()[BLOCKS - 1];
            for j in (0..BLOCK).filter(|j| open >> j & 1 == 1) {
                last.open[j] = u64::MAX << (PAD + j);
            }
            let (mut want, mut plain) = (Block { open: last.open, picks: last.picks }, window);
            let growth = plain.steps(&mut want);
            let mut got = window;
            // SAFETY: the first line found that this CPU has the features.
            prop_assert_eq!(unsafe { blocks(&mut span, &mut got, BLOCKS - 1) }, BLOCKS);
            prop_assert_eq!(span.blocks.as_flattened()[BLOCKS - 1].picks, want.picks);
            prop_assert_eq!(span.begins[BLOCKS - 1], 100);
            prop_assert_eq!(span.new[0].load(100), plain.used);
            let grown = span.cursor.difference - 200;
            let grown = 8 * grown as u32;
            prop_assert!(grown <= growth);
            prop_assert_eq!(got, plain.next(grown));
        }
    }
}
