//! `antichain_skip_avx512` with its bands shared among the threads; [`super::wave`] says how bands wait for one another.
//!
//! Cost: that of one thread, divided. The first steps of a band wait for the band before, and the last bands are short.
//! Bound: as on one thread, then the cache and memory that the cores share.

use super::antichain::{scan, shared};
use super::antichain_skip_avx512;
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &StoneGame, context: CostContext) -> Cost {
    shared(input, antichain_skip_avx512::cost(input, context), context.threads)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, run.threads())
}
