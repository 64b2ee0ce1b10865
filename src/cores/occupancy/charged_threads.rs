//! The automaton in segments, shared among the threads: see [`super::streaming::segments`].
//!
//! Idea: the chain of the automaton cannot be made shorter, but a run may begin anywhere from a guess with the right
//! charge, because it soon reaches the states of the true run. States are compared where segments join.
//!
//! Cost: that of the automaton, divided; each segment has a warm-up of 3072 heaps before up to 262144 that count.
//! Bound: as `automaton`, on each thread.

use super::streaming::segments::{self, Alone, Plan};
use super::streaming::{Plain, automaton_ns};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &ProportionateNim, context: CostContext) -> Cost {
    match context.threads {
        0 | 1 => Cost::IMPOSSIBLE,
        threads => segments::cost(input, [1, threads], [automaton_ns::PLAIN; 2]),
    }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    let work = |shared: &segments::Shared<'_, S, _>| shared.work(Alone(Plain));
    segments::drive(input, run, Plan::new::<S>(1, run.threads()), sink, segments::charge, work).map(|(sink, _)| sink)
}
