//! The streaming register automaton with its sixteen steps in assembly: see [`super::streaming`].
//!
//! Why assembly: a step is a serial chain through the lowest zero of four registers, and nothing of the next can start before
//! it ends. With care it is four cycles long: `blsi`, a shift by `lea`, a register moved and marked by one `lea`, `andn`. LLVM
//! reassociates the expression, and the chain gets longer. The order of the instructions matters as much:
//! Zen 4 binds each to one of four units before it is ready, so those of the chain lose turns to others. Of several hundred
//! orders tried, the median took 5.5 cycles a step; this one takes 4.5.
//!
//! Those are the cycles of steps in a loop of their own. Blocks take well over five a step: between two of them registers move by
//! a distance that the last steps decide, and old marks are fetched from where it leads. What costs there is not the wait but the
//! number of instructions: whole runs retire nearly four per cycle. Since registers lie at whole bytes of the rows there are 70 between
//! two blocks, not 115.
//!
//! What does not pay: the same in vector registers, where one `vpternlogq` does two of these operations, but the chain is
//! 5.7 cycles long, and `vmovq` to look at the result costs three each way.
//! Nor does a visit to unused heaps alone, five of eight, in blocks of eight: the distances vary, three rows shift by them at
//! once where two units shift, so that a step is six cycles long, and a block has as much around its steps as before.
//! Nor does it pay to fill the gaps of the chain. The instructions that wait for it fill the schedulers of the integer units
//! within a few steps, and what stands behind them has to wait too: with the rows of the next span prepared a piece after each
//! block, the blocks get longer by more than the spans get shorter. To collect "has a partner" from the carry of `blsi` is one
//! instruction more in each step and gains nothing; a block that opens its own candidates with vectors is slower.
//! Nor does a chain of three cycles: `tzcnt`, `shlx` of 7 by it and `andn` keep the next step off the marks of this one, and the rows
//! have two steps' time. That is fifteen operations in the four units instead of fourteen. In a loop of its own the best of 120
//! orders takes 4.2 cycles a step where this one takes 4.7, and yet whole runs are no shorter.
//! Nor can the pick be foreseen and checked afterwards: who knows the last five outcomes guesses one in two right.
//!
//! Cost: fifteen instructions a step, of which fourteen share the four integer units: 3.5 cycles.
//! Bound: the chain, four cycles a step at best and well over five with what links blocks. The rows of spans and their settling
//! take half as long again, and the chain stands still meanwhile.
#![allow(unsafe_code, reason = "the steps are inline assembly")]

use std::arch::asm;
use std::arch::x86_64::{
    _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_setzero_si256, _pdep_u64, _pext_u64,
};

use super::streaming::{
    Block, Blocks, CHAIN, Closures, Inner, Plain, Row, Span, Substitution, WORDS, Window, append, cost as cost_of,
    drive, growth,
};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, Needs, On, Run, Stop};
use crate::simd::avx2::load;

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    cost_of(input, 0.98)
}

/// The chain of the steps; see [`super::streaming`].
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: CHAIN, ..Needs::default() }
}

/// `free`: the candidates of this step that nothing forbids, then of the next. `$mine`: the row of sums that this step marks,
/// `$other`: the one that the next reads. `$late`: what else happens to `twice`.
macro_rules! step {
    ($j:literal, $mine:literal, $other:literal, $late:literal) => {
        concat!(
            // The next step, as far as it does not depend on this one.
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
            "mov [{block} + 128 + 8 * ",
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

/// Steps after which the growth of `d` is measured: early enough that the addresses of the next block's marks are known in time.
const EARLY: usize = 12;

/// [`Window::steps`].
#[inline]
#[target_feature(enable = "bmi1")]
fn steps(marks: &mut Window<u64>, block: &mut Block) -> u32 {
    let early: u64;
    let Window { used, difference, twice, late, sum: [even, odd] } = marks;
    // A copy, so that the others need not be in memory.
    let late = *late;
    // SAFETY: reads the 16 words of `block.open` and writes the 16 of `block.picks` behind them (`repr(C)`), borrowed for this
    // call; reads `late`; changes nothing else in memory. The instructions are those of BMI1.
    unsafe {
        asm!(
            "andn {free}, {used}, [{block}]",
            "andn {free}, {even}, {free}",
            "andn {free}, {difference}, {free}",
            "andn {free}, {twice}, {free}",
            step!("0", "even", "odd"),
            step!("1", "odd", "even"),
            step!("2", "even", "odd"),
            step!("3", "odd", "even"),
            step!("4", "even", "odd"),
            step!("5", "odd", "even"),
            step!("6", "even", "odd"),
            step!("7", "odd", "even", "or {twice}, [{late}]\n"),
            step!("8", "even", "odd"),
            step!("9", "odd", "even"),
            step!("10", "even", "odd"),
            step!("11", "odd", "even"),
            "mov {late}, {difference}",
            step!("12", "even", "odd"),
            step!("13", "odd", "even"),
            step!("14", "even", "odd"),
            // The last step has no next one.
            "blsi {b}, {free}",
            "mov [{block} + 128 + 8 * 15], {b}",
            "lea {b2}, [{b} + {b}]",
            "lea {difference}, [{b2} + 2 * {difference}]",
            "or {used}, {b}",
            "or {twice}, {b}",
            "shl {twice}, 2",
            "lea {odd}, [{b2} + 2 * {odd}]",
            used = inout(reg) *used,
            difference = inout(reg) *difference,
            twice = inout(reg) *twice,
            late = inout(reg) &raw const late => early,
            even = inout(reg) *even,
            odd = inout(reg) *odd,
            block = in(reg) &raw mut *block,
            free = out(reg) _,
            next = out(reg) _,
            b = out(reg) _,
            b2 = out(reg) _,
            b4 = out(reg) _,
            options(nostack),
        );
    }
    growth(early >> EARLY)
}

/// [`Closures::blocks`], out of line: amid all the rest the compiler keeps half of the registers of the steps in memory.
#[inline(never)]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
pub fn blocks(span: &mut Span, window: &mut Window<u64>, block: usize) -> usize {
    span.narrow_blocks(window, block, |window: &mut Window<u64>, block: &mut Block| steps(window, block))
}

/// [`Closures::lower`].
#[inline]
#[target_feature(enable = "avx2")]
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

#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    let inner = Closures {
        blocks: |span: &mut Span, window: &mut Window<u64>, block| blocks(span, window, block),
        open: |used, blocks: &mut Blocks| Plain.open(used, blocks),
        lower: |blocks: &Blocks| lower(blocks),
        sum_of_bits: |words: &[u64; WORDS]| Plain.sum_of_bits(words),
        append: |row: &mut Row, end, flags, Substitution { zeros, added, marks, .. }: &Substitution| {
            append(row, end, flags, *zeros, |flags| _pext_u64(*marks, !added | _pdep_u64(flags.into(), *added)));
        },
        deposit: |word, mask| _pdep_u64(word, mask),
    };
    drive(input, run, inner)
}
