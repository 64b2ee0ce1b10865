//! 32 layers at once, 256 candidates a window: the driver of [`super::antichain`] without summaries.
//!
//! Cost: one window for nearly every visit while `N` is a few thousand, then `0.09 N / 256`.
//! Bound: instructions of a visit, about half of them for marks.

use super::antichain::{bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, On, Run, Stop};

pub fn cost(input: &StoneGame, on: On) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    let ns = 0.00043 * n * n * n + 3.3 * n * n;
    let threaded = if on.threads > 1 { 0.55 * ns + 2e5 } else { ns };
    Cost { ns: threaded, bytes: bytes(input) }
}

#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<2, false, S>(input, run)
}
