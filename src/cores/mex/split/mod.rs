//! `mex_split`: Grundy values of heaps that a move splits.
//!
//! A move splits a heap of `s` into 2 to `k` non-empty heaps; `sg_k(s)` is the mex of the nim-sums of the parts.
//!
//! # Theorems
//! * `sg_k(s) <= s - 1` for `s >= 1`: with `r` parts, the nim-sum is at most the sum of the values, by induction at most
//!   `s - r <= s - 2`.
//! * `k = 2`: `sg_2(s)` is 1 for even `s >= 2` and 0 for odd `s`. The parts of an even heap have the same parity, so they have
//!   equal values and nim-sum 0. The parts of an odd heap differ in parity, so their nim-sum is 1.
//! * `k >= 4`: `sg_k(s) = s - 1`. Put `y = x - 1` for each part `x`; then the `y` of `r` parts add up to `s - r`. The value
//!   `v = s - 2` is reached by two parts with `y = (v, 0)`. For `v <= s - 3`, take the `r` of 3 and 4 that makes `s - r - v`
//!   even, say `2t`: the parts with `y = (v, t, t)` or `(v, t, t, 0)` have nim-sum `v`. So every value up to `s - 2` is reached,
//!   and no value above.
//! * `k >= 3`: **a value occurs at most twice, at sizes of opposite parity.** If `s < s'` had the same value and `s' - s = 2d`,
//!   then `s'` could be split into `(s, d, d)`, whose nim-sum is that value.
//!
//! `sg_3` = 0 1 2 3 1 4 3 2 4 5 6 7 8 9 7 6 9 8 11 10 ... has no known closed form. It stays close to half the size:
//! `2 sg_3(s) - s` is at most 5. Except at a few late second occurrences (the first at s = 31, 61, 199, 341, 511, 1021, 3079),
//! it is at least -6. This is observed up to 100000, not proved, and no kernel relies on it.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use super::translate;
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, Run, RunError, kernels};

mod bit_rows;
mod by_splits;
mod near_sum;

/// Grundy values of the sizes `0..=limit` of a heap that splits. The output holds one value per size.
#[derive(Debug)]
pub struct MexSplit;

/// The largest number of parts of a split, and a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    parts: u32,
    limit: u32,
}

/// The largest limit: a few hours for the fastest kernel.
pub const MAX_LIMIT: u64 = 1 << 24;

impl Split {
    /// The heaps `0..=limit`, split into 2 to `parts` parts. With `parts` below 2 there are no moves.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`].
    pub fn new(parts: u32, limit: u64) -> Result<Self, InputError> {
        if limit > MAX_LIMIT {
            return Err(InputError::TooLarge { operation: MexSplit::NAME, size: limit, most: MAX_LIMIT });
        }
        Ok(Split { parts, limit: limit as u32 })
    }

    /// The largest number of parts of a split.
    pub fn parts(&self) -> usize {
        self.parts as usize
    }

    /// The largest heap.
    pub fn limit(&self) -> usize {
        self.limit as usize
    }

    /// The number of splits of all heaps into at most `parts` parts, asymptotically: the work of a kernel that handles each split.
    fn splits(&self) -> f64 {
        let n = f64::from(self.limit);
        let mut exactly = n;
        let mut all = 0.0;
        for r in 2..=self.parts.min(self.limit) {
            exactly *= n / f64::from(r).powi(2);
            all += exactly;
        }
        all
    }
}

/// Sizes between two progress updates.
const PROGRESS_STEP: usize = 64;

/// The driver: `value(s, known)` is the value of size `s >= 1`, given those of `0..s`.
#[inline(always)]
fn size_by_size(input: &Split, run: &Run, mut value: impl FnMut(usize, &[u32]) -> usize) -> Result<Vec<u32>, RunError> {
    let mut values = vec![0; input.limit() + 1];
    for start in (0..values.len()).step_by(PROGRESS_STEP) {
        let end = values.len().min(start + PROGRESS_STEP);
        for s in start.max(1)..end {
            // At most s - 1, so it fits.
            values[s] = value(s, &values[..s]) as u32;
        }
        run.advance((end - start) as u64)?;
    }
    Ok(values)
}

impl Operation for MexSplit {
    type Input = Split;
    type Output = Vec<u32>;
    type Start = ();

    const NAME: &'static str = "mex_split";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexSplit;
        byte_scan = byte_scan in by_splits, Portable, [], "the baseline, and the best known elsewhere: every split stamps its nim-sum", needs;
        closed_form = closed_form in by_splits, Portable, [], "the proved closed forms for 2 and for 4 or more parts";
        bit_rows = bit_rows with translate::plain, Portable, [], "sets of nim-sums as bit rows, XOR-translated word by word by a butterfly";
        xor_translate_avx512 = bit_rows with translate::avx512 like bit_rows, Avx512, ["avx512"],
            "the same, with 512 bits translated by two instructions: vgf2p8affineqb within bytes, vpermb across them";
        open_values = open_values in by_splits, Portable, [], "3 parts: test only values not yet seen at sizes of the same parity", needs;
        near_sum = near_sum, Portable, [], "3 parts: keep only 32 nim-sums of each set of pairs, next to the sum";
        near_sum_avx2 = avx2 in near_sum::x86 like near_sum, Avx2, ["avx2"], "the same, 8 splits at once, without gathers", needs;
        near_sum_avx512 = avx512 in near_sum::x86 like near_sum, Avx512, ["avx512"], "the same with 16 nim-sums and 32 splits at once", needs;
        near_sum_neon = v128 in near_sum like near_sum, Neon, ["neon"], "the same with 16 nim-sums and 8 splits at once";
        near_sum_simd128 = v128 in near_sum like near_sum, Simd128, ["simd128"], "the same with 16 nim-sums and 8 splits at once";
    };
    const ABSENT: &'static [(&'static str, &'static str)] =
        &[("parallel", "each size needs all smaller sizes, and takes less time than starting a thread")];
    const PUBLIC: &'static [&'static str] = &["byte_scan"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    /// Splits are enumerated part by part.
    fn oracle(input: &Split) -> Vec<u32> {
        /// Marks the nim-sums of all splits of `left` into at most `parts` parts of at most `most`, each XORed with `nim_sum`.
        fn reach(values: &[u32], left: usize, most: usize, parts: usize, nim_sum: u32, reached: &mut [bool]) {
            if left == 0 {
                reached[nim_sum as usize] = true;
            } else if parts > 0 {
                for part in left.div_ceil(parts)..=left.min(most) {
                    reach(values, left - part, part, parts - 1, nim_sum ^ values[part], reached);
                }
            }
        }

        let mut values: Vec<u32> = vec![0];
        for s in 1..=input.limit() {
            // Nim-sums of parts are below the power of two above s, because every value is below its size.
            let mut reached = vec![false; (s + 1).next_power_of_two()];
            reach(&values, s, s - 1, input.parts(), 0, &mut reached);
            values.push(reached.iter().position(|reached| !reached).expect("fewer nim-sums than numbers") as u32);
        }
        values
    }

    fn steps(input: &Split) -> u64 {
        input.limit() as u64 + 1
    }

    fn digest(values: &Vec<u32>) -> Digest {
        let sum = values.iter().map(|v| u128::from(*v)).sum();
        vec![("sum", sum), ("value", values.last().copied().unwrap_or(0).into())]
    }
}

impl Workloads for MexSplit {
    const WORKLOADS: &'static [Workload] = &[
        workload("three-parts", "split into 2 or 3 parts; size = the largest heap", 200, &[10, 100, 200, 1000]),
        workload("two-parts", "split into 2 parts, where a closed form is known; size = the largest heap", 200, &[200]),
        workload(
            "four-parts",
            "split into 2 to 4 parts, where a closed form is known; size = the largest heap",
            200,
            &[200],
        ),
    ];

    fn input(workload: &str, size: u64, _: &Selection) -> Result<Split, InputError> {
        let parts = match workload {
            "two-parts" => 2,
            "three-parts" => 3,
            "four-parts" => 4,
            _ => return Err(InputError::unknown_workload::<Self>(workload)),
        };
        Split::new(parts, size)
    }
}
