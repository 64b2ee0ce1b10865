//! `blocks_avx2` with its superbands shared among the threads; [`super::blocks`] says how they wait for one another.
//!
//! Cost: that of one thread, divided. A superband begins two segments after the one before it.
//! Bound: as on one thread, then the cache and memory that the cores share.

use super::blocks::{scan, shared};
use super::blocks_avx2::{self, work};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &StoneGame, context: CostContext) -> Cost {
    shared(input, blocks_avx2::cost(input, context), context.threads)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, run.threads(), |share| work(share))
}
