//! The streaming register automaton with its sixteen steps in assembly: see [`super::streaming`].
//!
//! Why assembly: a step is a serial chain through the lowest zero of four registers, and nothing else can start before it ends.
//! Written with care it is four cycles long: `blsi`, a shift by `lea`, and two `andn` (the third is hidden). LLVM takes the same
//! expression apart and associates it anew, and the chain gets longer.
//!
//! The steps keep two things apart. What the pick `b` of this step forbids in the next is in the chain; the marks of all
//! earlier steps are gathered meanwhile. A register that moves up is marked and moved by one `lea`.
//!
//! Cost: fifteen instructions a step, of which fourteen share the four integer units: 3.5 cycles.
//! Bound: the chain of four cycles a step, and between blocks about 60 instructions that do not all fit beside it.
#![allow(unsafe_code, reason = "the steps are inline assembly")]

use std::arch::asm;

use super::streaming::{BLOCK, BLOCKS, Span, Window, cost as cost_of, drive, nonzero};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, On, Run, Stop};

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    cost_of(input, 0.7)
}

/// `free`: candidates of this step that nothing forbids, then of the next. `$mine`: the row of sums that this step marks,
/// `$other`: the one that the next reads. `$late`: what else happens to `twice`.
macro_rules! step {
    ($j:literal, $mine:literal, $other:literal, $late:literal) => {
        concat!(
            "blsi {b}, {free}\n",
            "mov [{picks} + 8 * ",
            $j,
            "], {b}\n",
            "lea {b2}, [{b} + {b}]\n",
            "lea {b4}, [4 * {b}]\n",
            "shl {twice}, 2\n",
            $late,
            // The next step, as far as it does not depend on this one ...
            "andn {free}, {used}, [{open} + 8 * ",
            $j,
            " + 8]\n",
            "andn {free}, {",
            $other,
            "}, {free}\n",
            "andn {free}, {twice}, {free}\n",
            // ... and what this one forbids: the chain.
            "andn {free}, {b}, {free}\n",
            "lea {difference}, [{b2} + 2 * {difference} + 1]\n",
            "andn {free}, {b4}, {free}\n",
            "andn {free}, {difference}, {free}\n",
            // Marks for later steps.
            "or {used}, {b}\n",
            "or {twice}, {b4}\n",
            "lea {",
            $mine,
            "}, [{b2} + 2 * {",
            $mine,
            "}]\n",
        )
    };
    ($j:literal, $mine:literal, $other:literal) => {
        step!($j, $mine, $other, "")
    };
}

/// [`Window::steps`].
#[inline(always)]
fn steps(marks: &mut Window<u64>, open: &[u64; BLOCK], picks: &mut [u64; BLOCK]) {
    let Window { used, difference, twice, late, sum: [even, odd] } = marks;
    // SAFETY: reads the 16 words of `open` and writes the 16 of `picks`, both borrowed for this call; changes nothing else
    // in memory. The instructions are those of BMI1, a feature of the caller, which is compiled at the tier `avx2`.
    unsafe {
        asm!(
            "andn {free}, {used}, [{open}]",
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
            step!("7", "odd", "even", "or {twice}, {late}\n"),
            step!("8", "even", "odd"),
            step!("9", "odd", "even"),
            step!("10", "even", "odd"),
            step!("11", "odd", "even"),
            step!("12", "even", "odd"),
            step!("13", "odd", "even"),
            step!("14", "even", "odd"),
            // The last step has no next one.
            "blsi {b}, {free}",
            "mov [{picks} + 8 * 15], {b}",
            "lea {b2}, [{b} + {b}]",
            "lea {difference}, [{b2} + 2 * {difference} + 1]",
            "or {used}, {b}",
            "or {twice}, {b}",
            "shl {twice}, 2",
            "lea {odd}, [{b2} + 2 * {odd}]",
            used = inout(reg) *used,
            difference = inout(reg) *difference,
            twice = inout(reg) *twice,
            late = in(reg) *late,
            even = inout(reg) *even,
            odd = inout(reg) *odd,
            open = in(reg) open.as_ptr(),
            picks = in(reg) picks.as_mut_ptr(),
            free = out(reg) _,
            b = out(reg) _,
            b2 = out(reg) _,
            b4 = out(reg) _,
            options(nostack),
        );
    }
}

#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    let blocks = |span: &mut Span, window: &mut Window<u64>, from: usize| {
        for block in from..BLOCKS {
            let mut marks = window.with(span.old());
            if !marks.is_exact() {
                return block;
            }
            let (open, picks) = span.block(block);
            steps(&mut marks, open, picks);
            let growth = marks.growth();
            span.end_block(marks.used, marks.sum, growth);
            *window = marks.next(growth);
        }
        BLOCKS
    };
    drive(input, run, blocks, nonzero)
}
