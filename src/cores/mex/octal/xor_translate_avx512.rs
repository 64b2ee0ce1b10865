//! [`super::bit_rows`] with 512 bits translated by two instructions, as in `mex_split`.
//!
//! Cost: one load, two permutations and one OR for 512 nim-sums of three parts.
//! Bound: as in `bit_rows`; with three parts, the translations.

use super::bit_rows::{drive, translations};
use super::{Octal, Start};
use crate::cores::mex::split::xor_translate_avx512::translate;
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    translations(input, 2.0, 1.0)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive(input, run, start, |union, row, value| translate(union, row, value))
}
