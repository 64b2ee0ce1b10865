//! [`super::greedy_avx512`] on two threads: one computes common values, the other follows and verifies them. See
//! [`drive::Pair`].
//!
//! Cost: as on one thread, plus a copy of each code.
//! Bound: the thread with more to do, which is the one that computes.

use super::drive;
use super::greedy::WORTH;
use super::lanes::Sparse;
use super::sparse_lanes_avx512::parts;
use super::{Octal, Start, greedy_avx512};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

pub fn cost(input: &Octal, context: CostContext) -> Cost {
    if context.threads < 2 {
        return Cost::IMPOSSIBLE;
    }
    let Cost { ns, bytes } = greedy_avx512::cost(input, context);
    Cost { ns: 0.65 * ns + 2e6, bytes: bytes + drive::task_bytes(input) + STACK }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    let (parts, ahead) = (parts(Some(WORTH)), parts(Some(WORTH)));
    drive::with_producer(
        move |producer: &mut Sparse, n| producer.common_block(n, &ahead),
        |pair| drive::drive(input, run, start, &parts, pair),
    )
}
