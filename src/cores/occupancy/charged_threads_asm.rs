//! `charged_threads` with the blocks of `automaton_asm`.
//!
//! Cost and bound: as `automaton_asm`, on each thread.

use super::streaming::automaton_ns;
use super::streaming::segments::{self, Alone, Plan};
use super::{ProportionateNim, Sink, automaton_asm};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    match context.threads {
        0 | 1 => Cost::IMPOSSIBLE,
        threads => segments::cost(input, [1, threads], [automaton_ns::ASM; 2]),
    }
}

#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let work = |shared: &segments::Shared<'_, S, _>| shared.work(Alone(automaton_asm::inner()));
    segments::drive(input, run, Plan::new::<S>(1, run.threads()), sink, segments::charge, work).map(|(sink, _)| sink)
}
