//! The baseline, as published: every split of every heap, with parts in ascending order, stamps its nim-sum in a table. The value
//! is the first number without a stamp.
//!
//! Cost: `n^3 / 36` stamps for three parts.
//! Bound: the stores.
//! Source: the Scatterstone Nim page, but with stamps instead of flags, so nothing needs clearing.

use super::{Split, size_by_size};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: the ns of a split, and of a heap.
pub fn cost(input: &Split, _: CostContext, [split, heap]: [f64; 2]) -> Cost {
    let n = input.limit() as f64;
    Cost { ns: split * input.splits() + heap * n, bytes: 4.0 * n + 4.0 * sums(input) as f64 }
}

/// One store per split, for its stamp.
pub fn needs(input: &Split) -> Needs {
    Needs { stores: input.splits() / (input.limit() as f64 + 1.0), ..Needs::default() }
}

/// A power of two above all nim-sums.
fn sums(input: &Split) -> usize {
    (input.limit() + 1).next_power_of_two()
}

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    // Nim-sums of parts of s are below the power of two above s.
    let mut stamp = vec![0u32; sums(input)];
    size_by_size(input, run, |s, values| {
        if input.parts() >= 2 {
            scan(values, s, 1, input.parts(), 0, &mut |nim_sum| stamp[nim_sum] = s as u32);
        }
        stamp.iter().position(|at| *at != s as u32).unwrap_or(stamp.len())
    })
}

/// Calls `found` with the nim-sum of every split of `s` into two ascending parts of at least `least`, XORed with
/// `nim_sum`.
#[inline(always)]
fn pairs(values: &[u32], s: usize, least: usize, nim_sum: u32, found: &mut impl FnMut(usize)) {
    let (small, large) = (&values[least..], &values[..=s - least]);
    for (a, b) in small.iter().zip(large.iter().rev()).take((s / 2 + 1).saturating_sub(least)) {
        found((nim_sum ^ a ^ b) as usize);
    }
}

/// The same for splits into 2 to `parts` parts.
fn scan(values: &[u32], s: usize, least: usize, parts: usize, nim_sum: u32, found: &mut impl FnMut(usize)) {
    if s < 2 * least {
        return;
    }
    pairs(values, s, least, nim_sum, found);
    if parts > 2 {
        for a in least..=s / 3 {
            scan(values, s - a, a, parts - 1, nim_sum ^ values[a], found);
        }
    }
}
