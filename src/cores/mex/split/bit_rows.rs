//! Sets of nim-sums as bit rows: row `t` of table `j` holds the nim-sums of all splits of `t` into exactly `j` parts. Adding a
//! part `c` XORs `sg(c)` into the index of every bit: see [`translate`](crate::cores::mex::translate).
//!
//! Cost: for three parts, `n^2 / 6` translations of a row of `V / 64` words, where `V` is the power of two above the largest value.
//! Bound: the translations; with 512 bits at once, building the rows of pairs up to `n` = 1000, one read-modify-write per pair.

use super::{Split, size_by_size};
use crate::cores::growing;
use crate::cores::mex::translate::{LINE, Translate};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, first_zero};

const NS_PER_SIZE: f64 = 40.0;
const NS_PER_PAIR: f64 = 0.9;
/// The largest value of a size, on average over sizes: the last one over this.
const MEAN: f64 = 1.2;

/// Rates: the ns of a translated row, and of a word of it.
pub fn cost(input: &Split, _: CostContext, [each, word]: [f64; 2]) -> Cost {
    let n = input.limit() as f64;
    // With three parts, values stay near half the size. Rows are as long as the values need.
    let words = (if input.parts() == 3 { n / 2.0 } else { n } / WORD as f64 / MEAN).max(LINE as f64);
    let pairs = n * n / 4.0;
    let rows = (3..=input.parts().min(64)).map(|j| n * n / 2.0 / j as f64).sum::<f64>();
    Cost { ns: NS_PER_SIZE * n + NS_PER_PAIR * pairs + rows * (each + word * words), bytes: bytes(input) }
}

/// Bytes of the tables, which have a row for each size: its bits, a power of two above the largest value so far, and its list header.
/// With three parts, the largest value is about half the size.
fn bytes(input: &Split) -> f64 {
    let (n, tables) = (input.limit() as f64, input.parts().saturating_sub(2) as f64);
    let slope = if input.parts() == 3 { 0.5 } else { 1.0 };
    let (mut rows, mut from) = (0.0, 0.0);
    let mut bits = (WORD * LINE) as f64;
    while from < n {
        let to = n.min(bits / slope);
        rows += (to - from) * bits / 8.0;
        (from, bits) = (to, 2.0 * bits);
    }
    tables * (rows + growing::bytes::<Vec<u64>>(n)) + 4.0 * n
}

#[inline(always)]
pub fn run(input: &Split, run: &Run, translate: impl Translate) -> Result<Vec<u32>, RunError> {
    let lines = |values: usize| values.next_power_of_two().div_ceil(WORD * LINE);
    // tables[j - 2][t]: splits of t into exactly j parts. Rows grow with the largest value, so their lengths differ.
    let mut tables: Vec<Vec<Vec<[u64; LINE]>>> = vec![vec![Vec::new()]; input.parts().saturating_sub(2)];
    let mut largest = 0;
    size_by_size(input, run, |s, values| {
        let width = lines(largest + 1);
        let mut reached = vec![[0; LINE]; width];
        for parts in 2..=input.parts() {
            let mut row = vec![[0; LINE]; width];
            if parts == 2 {
                for (a, b) in values[1..].iter().zip(values.iter().rev()).take(s / 2) {
                    let nim_sum = (a ^ b) as usize;
                    row.as_flattened_mut()[nim_sum / WORD] |= 1 << (nim_sum % WORD);
                }
            } else {
                for c in 1..=s / parts {
                    let short = &tables[parts - 3][s - c];
                    let value = values[c] as usize;
                    // The translation of a shorter row falls into the lines whose numbers have the high bits of `value`.
                    let first = (value / (WORD * LINE)) & !(short.len() - 1);
                    translate(&mut row[first..first + short.len()], short, value - first * WORD * LINE);
                }
            }
            reached.as_flattened_mut().iter_mut().zip(row.as_flattened()).for_each(|(all, word)| *all |= word);
            if parts < input.parts() {
                growing::push(&mut tables[parts - 2], row);
            }
        }
        let words = reached.as_flattened();
        let value = match words.iter().position(|word| *word != u64::MAX) {
            Some(w) => w * WORD + first_zero(words[w]),
            None => words.len() * WORD,
        };
        largest = largest.max(value);
        value
    })
}
