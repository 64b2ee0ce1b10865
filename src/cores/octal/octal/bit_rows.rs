//! Sets of nim-sums as bit rows. With three parts, the nim-sums of the pairs of each total are kept as a row; a third part `c` XORs
//! `g(c)` into the index of every bit of a row: see [`translate`](crate::cores::mex::translate).
//!
//! Cost: a bit for each pair; for three parts, `n^2 / 6` translations of a row of `V / 64` words, where `V` is the power of two
//! above the largest value.
//! Bound: setting the bits of pairs, one read-modify-write each; with three parts, the translations.

use super::{Octal, Start, heap_by_heap, pairs};
use crate::cores::growing;
use crate::cores::mex::translate::{LINE, Translate};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, first_zero};

/// Rates: the ns of a translated row, and of a line of it.
pub fn cost(input: &Octal, _: CostContext, [each, line]: [f64; 2]) -> Cost {
    let n = input.heaps() as f64;
    let has_rows = input.code().has_three_parts();
    // Values of 0.8 grow like this up to 4096 heaps, observed, and those of games with two parts more slowly; rows are lines of
    // 512 bits, a power of two of them.
    let lines = (n.powf(0.75) / 512.0).max(1.0).log2().ceil().exp2();
    let triples = input.places(8).count() as f64;
    let pairs = input.places(4).count() as f64 + f64::from(u8::from(has_rows));
    let rows = if has_rows { n * (64.0 * lines + growing::bytes::<Vec<u64>>(1.0)) } else { 0.0 };
    let ns = 60.0 * n + 1.1 * pairs * n * n / 4.0 + triples * n * n / 6.0 * (each + line * lines);
    Cost { ns, bytes: 2.0 * n + rows }
}

fn set(row: &mut [[u64; LINE]], bit: u16) {
    row.as_flattened_mut()[usize::from(bit) / WORD] |= 1 << (usize::from(bit) % WORD);
}

#[inline(always)]
pub fn run(input: &Octal, run: &Run, start: Start, translate: impl Translate) -> Result<Vec<u16>, RunError> {
    let is_unequal = input.code().is_unequal();
    // rows[t]: the nim-sums of two heaps with t beans in all, where triples need them.
    let mut rows: Vec<Vec<[u64; LINE]>> = Vec::new();
    let (mut seen, mut largest) = (0, 0);
    heap_by_heap(input, run, start, |n, g| {
        largest = g[seen..].iter().fold(largest, |largest, value| largest.max(*value));
        seen = n;
        let blank = vec![[0; LINE]; (usize::from(largest) + 1).next_power_of_two().div_ceil(WORD * LINE)];
        while input.code().has_three_parts() && rows.len() <= n {
            let mut row = blank.clone();
            pairs(g, rows.len(), 1, is_unequal).for_each(|nim_sum| set(&mut row, nim_sum));
            growing::push(&mut rows, row);
        }
        let mut reached = blank;
        for (left, digit) in input.moves(n) {
            if Octal::leaves(digit, left) {
                set(&mut reached, g[left]);
            }
            if digit & 4 > 0 {
                pairs(g, left, 1, is_unequal).for_each(|nim_sum| set(&mut reached, nim_sum));
            }
            if digit & 8 > 0 {
                for part in 1..=left / 3 {
                    let (short, value) = (&rows[left - part], usize::from(g[part]));
                    // The translation of a shorter row falls into the lines whose numbers have the high bits of `value`.
                    let first = (value / (WORD * LINE)) & !(short.len() - 1);
                    translate(&mut reached[first..first + short.len()], short, value - first * WORD * LINE);
                }
            }
        }
        let words = reached.as_flattened();
        let value = match words.iter().position(|word| *word != u64::MAX) {
            Some(w) => w * WORD + first_zero(words[w]),
            None => words.len() * WORD,
        };
        u16::try_from(value).ok()
    })
}
