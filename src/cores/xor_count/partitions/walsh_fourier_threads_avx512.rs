//! [`super::walsh_fourier_avx512`] on all threads of the run, which share its leaves as in [`super::walsh_tree_threads_avx512`]. What is
//! the same for all leaves is made by one thread.
//!
//! Cost: the cost of one thread divided by their number, plus a tenth of a millisecond.
//! Bound: as in `walsh_fourier_avx512`; from `n` = 10000 on, the L2 of each core.

use super::fourier::Foreseen;
use super::{Partitions, walsh_fourier_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

pub fn cost(input: &Partitions, context: CostContext) -> Cost {
    let one = walsh_fourier_avx512::cost(input, context);
    let threads = context.threads as f64;
    let bytes = Foreseen::new(input, context.threads).bytes + (threads - 1.0) * STACK;
    Cost { ns: 100_000.0 + 1.05 * one.ns / threads, bytes }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    walsh_fourier_avx512::on_threads(input, run, run.threads())
}
