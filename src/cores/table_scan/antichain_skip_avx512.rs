//! 64 layers at once, with full words skipped. Searches start where no row is filled and continue in rounds without
//! mispredicted ends; a summary with a bit for each word of the tables tells which windows can hold a free candidate.
//! The parts of [`super::antichain`] describe all of this. Words that no row fills grow slowly in number (observed: 1.7,
//! 2.3 and 2.9 per P-position at `N` = 1000, 4000 and 12000), where a plain scan from the hint needs `0.09 N / 64`.
//!
//! Cost: one window per visit. For the searches that continue, seven in ten at `N = 20000`, a summary read of six rows
//! and windows at the words that it shows to be open. Each mark checks whether its word is full.
//! Bound, inferred and not settled: the six rows of a visit lie in six places, so most windows come from the second
//! cache, two lines each; but a search repeated at once, with its lines in the first, still takes half of its time.

use super::antichain::{bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    Cost { ns: 0.00016 * n * n * n + 3.9 * n * n, bytes: bytes(input).iter().sum() }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, 1)
}
