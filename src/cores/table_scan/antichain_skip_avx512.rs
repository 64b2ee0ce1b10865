//! 64 layers at once, and full words passed over: a summary holds a bit for each word of the tables, and six of its rows tell
//! which windows can hold a free candidate. Words that no row fills grow slowly in number (observed: 1.7, 2.3 and 2.9 for each
//! P-position at `N` = 1000, 4000 and 12000), where a plain scan from the hint needs `0.09 N / 64`.
//!
//! Cost: one window a visit as it comes; for the searches that go on, a summary read of six rows and the windows of those words.
//! Each mark checks whether its word is full.
//! Bound: not settled. Time a visit still grows with `N`, so memory has a part in it. A step asks for the lines of rows that
//! are new to the band before it reaches them, and for the windows that a summary names before it reads them (prefetch); with
//! the first window read as it comes that took a tenth off at `N = 20000`. Asking for the first windows of the same step gained
//! nothing. Slower than the plain scan up to about `N = 9000`, for the summaries and the checks of marks.

use super::antichain::{bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, On, Run, Stop};

pub fn cost(input: &StoneGame, _: On) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    Cost { ns: 0.00023 * n * n * n + 4.75 * n * n, bytes: bytes(input) * 65.0 / 64.0 }
}

#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<4, true, S>(input, run, 1)
}
