//! `charged_lanes_avx512` on all threads.
//!
//! Cost and bound: as there, on each thread.

use super::charged_lanes_avx512::runner;
use super::streaming::automaton_ns;
use super::streaming::lanes::{self, LANES};
use super::streaming::segments::{self, Plan};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    let Cost { ns, bytes } = segments::cost(input, context.threads, automaton_ns::LANES);
    Cost { ns, bytes: bytes + context.threads as f64 * lanes::bytes() }
}

#[target_feature(
    enable = "bmi1,bmi2,popcnt,lzcnt,avx2,avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512vpopcntdq,avx512bitalg"
)]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let work = |shared: &segments::Shared<'_, S, _>| shared.work(runner());
    segments::drive(input, run, Plan::new::<S>(LANES, run.threads()), sink, segments::charge, work)
        .map(|(sink, _)| sink)
}
