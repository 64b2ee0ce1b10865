//! The baseline: every split of every heap stamps its nim-sum in a table. The value is the first number without a stamp.
//!
//! Cost: `n^2 / 4` stamps for each digit with two parts, `n^3 / 36` for each with three.
//! Bound: the stores.
//! Source: the definition, as in most programs for these games.

use super::{Octal, Start, heap_by_heap, pairs};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Numbers that fit in the output.
const VALUES: usize = 1 << 16;

/// Rates: the ns of a split, of a heap, and of a run.
pub fn cost(input: &Octal, _: CostContext, [split, heap, run]: [f64; 3]) -> Cost {
    if input.limit() >= u64::from(u32::MAX) {
        return Cost::IMPOSSIBLE;
    }
    let heaps = input.heaps() as f64;
    Cost { ns: split * input.splits() + heap * heaps + run, bytes: 2.0 * heaps + 4.0 * VALUES as f64 }
}

pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    let mut stamp = vec![0u32; VALUES];
    heap_by_heap(input, run, start, |n, g| {
        let now = n as u32;
        nim_sums(input, n, g, |nim_sum| stamp[usize::from(nim_sum)] = now);
        stamp.iter().position(|at| *at != now).map(|value| value as u16)
    })
}

/// Calls `found` with the nim-sum of each position that a move on a heap of `n` may leave.
#[inline(always)]
pub fn nim_sums(input: &Octal, n: usize, g: &[u16], mut found: impl FnMut(u16)) {
    for (left, digit) in input.moves(n) {
        if Octal::leaves(digit, left) {
            found(g[left]);
        }
        if digit & 4 > 0 {
            pairs(g, left, 1, input.code().is_unequal()).for_each(&mut found);
        }
        if digit & 8 > 0 {
            for part in 1..=left / 3 {
                pairs(g, left - part, part, false).for_each(|nim_sum| found(nim_sum ^ g[part]));
            }
        }
    }
}
