//! `window_tree_avx512` on all threads of the run: each takes the next window as soon as all windows that it reads have ended.
//! These lie below seven tenths of its heaps. One thread runs the base.
//!
//! Cost: that of `window_tree_avx512`, divided, except for the base.
//! Bound: as `automaton_avx512`, on each thread; up to `10^9` the base. Limits without windows are left to `charged_threads_avx512`.

use super::automaton_avx512::inner;
use super::windows::{LEAST, drive, threads_cost};
use super::{ProportionateNim, Sink, charged_threads_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    if input.limit() < LEAST {
        return charged_threads_avx512::cost(input, context);
    }
    threads_cost(input, 2.4, context.threads)
}

#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    if input.limit() < LEAST {
        return charged_threads_avx512::run(input, run, sink);
    }
    drive(input, run, run.threads(), sink, inner(), |shared| shared.work(inner()))
}
