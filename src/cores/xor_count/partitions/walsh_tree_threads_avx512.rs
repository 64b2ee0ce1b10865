//! [`super::walsh_tree_avx512`] on all threads of the run: each takes leaves next to each other, eight shares a thread, and builds
//! the nodes above them for itself. They share the plan, which nobody writes, and the number of the next share.
//!
//! Cost: that of one thread divided by their number, and a tenth of a millisecond.
//! Bound: as there; from `n` = 10000 on the second cache of each core.

use super::walsh_tree::bytes;
use super::{Partitions, walsh_tree_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::threads::STACK;

pub fn cost(input: &Partitions, context: CostContext) -> Cost {
    let one = walsh_tree_avx512::cost(input, context);
    let threads = context.threads as f64;
    Cost {
        ns: 100_000.0 + 1.05 * one.ns / threads,
        bytes: bytes::<1>(input, context.threads) + (threads - 1.0) * STACK,
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    walsh_tree_avx512::on_threads(input, run, run.threads())
}
