//! `charged_threads` with the blocks of `automaton_asm` and the spans of `automaton_avx512`.
//!
//! Cost and bound: as `automaton_avx512`, on each thread.

use super::streaming::automaton_ns;
use super::streaming::segments::{self, Alone, Plan};
use super::{ProportionateNim, Sink, automaton_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    match context.threads {
        0 | 1 => Cost::IMPOSSIBLE,
        threads => segments::cost(input, [1, threads], [automaton_ns::AVX512; 2]),
    }
}

#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let work = |shared: &segments::Shared<'_, S, _>| shared.work(Alone(automaton_avx512::inner()));
    segments::drive(input, run, Plan::new::<S>(1, run.threads()), sink, segments::charge, work).map(|(sink, _)| sink)
}
