//! Three parts, few candidates. A value occurs at most twice, at sizes of opposite parity (proved in the docs of the module).
//! So at size `s`, only values not yet seen at its parity are open: a handful, and everything from the frontier on. An open
//! value `g` is blocked if and only if, for some `c` in `0..=s/3`, the set of pairs of `s - c` has bit `g ^ sg(c)`. Here `c = 0`
//! means a split into two.
//!
//! Cost: `n^2 / 4` bits to set and about `n^2 / 6` to look up. All lookups for the last candidate of each size miss.
//! Bound: one scattered read-modify-write per pair, and cache misses of the lookups, each in a different row.

use super::{Split, size_by_size};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::bits::BitRows;

/// Rates: the ns of a pair, and of a lookup.
pub fn cost(input: &Split, _: CostContext, [pair, lookup]: [f64; 2]) -> Cost {
    if input.parts() != 3 {
        return Cost::IMPOSSIBLE;
    }
    let n = input.limit() as f64;
    Cost {
        ns: 10.0 * n + pair * n * n / 4.0 + lookup * n * n / 6.0,
        bytes: BitRows::bytes(input.limit() + 1, row_bits(input)) + 4.0 * n,
    }
}

/// A bit to set for each pair; lookups are not counted.
pub fn needs(input: &Split) -> Needs {
    Needs { bits: input.limit() as f64 / 4.0, ..Needs::default() }
}

/// The values not yet seen at sizes of one parity: a few that were passed over, and all from the frontier on.
pub struct OpenValues {
    passed: Vec<usize>,
    frontier: usize,
}

impl OpenValues {
    /// The open values at even and at odd sizes, at the start. No even size has value 0, because it splits into two equal parts.
    pub fn by_parity() -> [Self; 2] {
        [1, 0].map(|frontier| OpenValues { passed: Vec::new(), frontier })
    }

    /// Takes the smallest open value that is not `blocked`.
    #[inline(always)]
    pub fn take(&mut self, mut blocked: impl FnMut(usize) -> bool) -> usize {
        if let Some(i) = self.passed.iter().position(|g| !blocked(*g)) {
            return self.passed.remove(i);
        }
        loop {
            let g = self.frontier;
            self.frontier += 1;
            if !blocked(g) {
                return g;
            }
            self.passed.push(g);
        }
    }
}

/// Bits of a row: enough for nim-sums of values below `limit`, and for any candidate, which is at most `limit`.
fn row_bits(input: &Split) -> usize {
    (input.limit() + 1).next_power_of_two()
}

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    let mut pairs = BitRows::new(input.limit() + 1, row_bits(input));
    let mut open = OpenValues::by_parity();
    size_by_size(input, run, |s, values| {
        for (a, b) in values[1..].iter().zip(values.iter().rev()).take(s / 2) {
            pairs.set(s, (a ^ b) as usize);
        }
        open[s % 2].take(|g| values[..=s / 3].iter().zip((0..=s).rev()).any(|(v, t)| pairs.get(t, g ^ *v as usize)))
    })
}
