//! `charged_lanes_avx512` on all threads.
//!
//! Cost and bound: as there, on each thread.

use super::charged_lanes_avx512::{on_threads, runner};
use super::streaming::lanes::LANES;
use super::streaming::segments::{self, Plan};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    match context.threads {
        0 | 1 => Cost::IMPOSSIBLE,
        threads => on_threads(input, threads),
    }
}

#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let work = |shared: &segments::Shared<'_, S, _>| shared.work(runner());
    segments::drive(input, run, Plan::new::<S>(LANES, run.threads()), sink, segments::charge, work)
        .map(|(sink, _)| sink)
}
