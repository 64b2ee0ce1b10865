//! 32 layers at once, 256 candidates per window: the driver of [`super::antichain`] without summaries.
//!
//! Cost: `0.09 N / 256 + 1` windows for each of `0.18 N^2` visits; nine loads per window, six marks per visit.
//! Bound: about 55 cycles a visit at `N = 1000`, with 16, 32 or 64 layers alike, so a layer's dependency chain is not
//! it. Loads and marks contribute. Every eighth search needs a second window, in a pass of its own: as a branch in the
//! first pass it took 12 % longer.

use super::antichain::{bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    Cost { ns: 0.0005 * n * n * n + 2.2 * n * n + 200.0 * n + 1000.0, bytes: bytes::<2, false>(input).iter().sum() }
}

/// Six marks per P-position. Per visit, of which there are three for two positions, at least one window: nine loads of
/// half a vector, which are combined and shifted in as many operations.
pub fn needs(input: &StoneGame) -> Needs {
    let n = input.heaps() as f64;
    let windows = 1.5 * (0.09 * n / 256.0).max(1.0);
    Needs {
        bits: 6.0,
        loads: windows * 9.0 / 2.0,
        logic: windows * 9.0 / 2.0,
        bytes: 2.5 * n * n / 8.0,
        ..Needs::default()
    }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan::<2, false, S>(input, run, sink, 1)
}
