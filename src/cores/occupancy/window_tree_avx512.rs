//! `window_tree` with the inner loops of `automaton_avx512`.
//!
//! Cost: as many heaps as `window_tree`, in half the time.
//! Bound: as `automaton_avx512`.

use super::automaton_avx512::inner;
use super::windows::{cost as cost_of, drive};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    cost_of(input, 2.4)
}

#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    drive(input, run, 1, sink, inner(), |shared| shared.work(inner()))
}
