//! 64 layers at once, and full words passed over: a summary holds a bit for each word of the tables, and six of its rows tell
//! which windows can hold a free candidate. That leaves fewer than two windows a visit at every `N`, where a plain scan from
//! the hint needs `0.09 N / 256`.
//!
//! Cost: a summary read of six rows and fewer than two windows a visit, whatever `N`; each mark checks whether its word is full.
//! Bound: mispredicted ends of searches; at large `N` the memory of rows that 64 layers share. Slower than the plain scan below
//! `N = 15000`: six more reads a visit cost as much as three windows. Asking for the lines of a step's windows in advance
//! (prefetch) gained nothing.

use super::antichain::{bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, On, Run, Stop};

pub fn cost(input: &StoneGame, _: On) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    Cost { ns: 0.00027 * n * n * n + 5.2 * n * n, bytes: bytes(input) * 65.0 / 64.0 }
}

#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<4, true, S>(input, run, 1)
}
