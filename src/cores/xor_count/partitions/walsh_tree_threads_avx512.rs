//! [`super::walsh_tree_avx512`] on all threads of the run. The leaves are divided into ranges, about eight per thread. A thread that
//! takes a range builds the nodes above it for itself. Threads share only the read-only plan and the index of the next range.
//!
//! Cost: the cost of one thread divided by their number, plus a tenth of a millisecond.
//! Bound: as in `walsh_tree_avx512`; from `n` = 10000 on, the L2 of each core.

use super::walsh_tree::bytes;
use super::{Partitions, walsh_tree_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

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
