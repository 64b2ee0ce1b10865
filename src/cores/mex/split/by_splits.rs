//! Kernels that set or test each split or pair of parts, and the closed forms.

use super::{Split, size_by_size};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::bits::BitRows;

pub mod byte_scan {
    //! The baseline, as published: every split of every heap, with parts in ascending order, stamps its nim-sum in a table. The value
    //! is the first number without a stamp.
    //!
    //! Cost: `n^3 / 36` stamps for three parts.
    //! Bound: the stores.
    //! Source: the Scatterstone Nim page, but with stamps instead of flags, so nothing needs clearing.

    use super::*;

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
}

pub mod closed_form {
    //! The closed forms for 2 and for 4 or more parts, proved in the docs of the module of [`MexSplit`](super::super::MexSplit). For 3 parts, no closed
    //! form is known. Comparing this kernel with the general ones checks both.
    //!
    //! Cost: one store per size.
    //! Bound: the store.

    use super::*;

    /// Rates: the ns of a heap, and of a run.
    pub fn cost(input: &Split, _: CostContext, [heap, run]: [f64; 2]) -> Cost {
        let n = input.limit() as f64;
        Cost { ns: run + heap * n, bytes: 4.0 * n }.only_if(input.parts() != 3)
    }

    pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
        let mut values = vec![0; input.limit() + 1];
        for (s, value) in values.iter_mut().enumerate().skip(1) {
            *value = match input.parts() {
                0 | 1 => 0,
                2 => u32::from(s % 2 == 0),
                _ => s as u32 - 1,
            };
        }
        run.advance(values.len() as u64)?;
        Ok(values)
    }
}

pub mod open_values {
    //! Three parts, few candidates. A value occurs at most twice, at sizes of opposite parity (proved in the docs of the module).
    //! So at size `s`, only values not yet seen at its parity are open: a handful, and everything from the frontier on. An open
    //! value `g` is blocked if and only if, for some `c` in `0..=s/3`, the set of pairs of `s - c` has bit `g ^ sg(c)`. Here `c = 0`
    //! means a split into two.
    //!
    //! Cost: `n^2 / 4` bits to set and about `n^2 / 6` to look up. All lookups for the last candidate of each size miss.
    //! Bound: one scattered read-modify-write per pair, and cache misses of the lookups, each in a different row.

    use super::*;

    const NS_PER_SIZE: f64 = 10.0;

    /// Rates: the ns of a pair, and of a lookup.
    pub fn cost(input: &Split, _: CostContext, [pair, lookup]: [f64; 2]) -> Cost {
        let n = input.limit() as f64;
        let ns = NS_PER_SIZE * n + pair * n * n / 4.0 + lookup * n * n / 6.0;
        let bytes = BitRows::bytes(input.limit() + 1, row_bits(input)) + 4.0 * n;
        Cost { ns, bytes }.only_if(input.parts() == 3)
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
}
