//! [`super::byte_lanes_avx512`] on two threads that exchange messages, see [`pair::drive_pair`].
//!
//! Cost: as on one thread, plus a copy of each code and of the helper's planes.
//! Bound: the vector ports of two cores. At a hundred thousand heaps, the exchange costs as much as it saves.

use super::Subtraction;
use super::drive::pair;
use crate::cores::mex::lanes::avx512::{TABLES, accumulate, free_words};
use crate::cores::mex::lanes::by_planes;
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Subtraction, context: CostContext) -> Cost {
    if context.threads < 2 {
        return Cost::IMPOSSIBLE;
    }
    let Cost { ns, .. } = super::byte_lanes_avx512::cost(input, context);
    // Distant moves need fewer planes. Added: a thread, its page faults, and copies of codes and hits.
    let saved = f64::min(0.57 * pair::shareable(input), 0.48);
    Cost { ns: ns * (1.0 - saved) + 1.6 * input.heaps() as f64 + 3e5, bytes: pair::pair_bytes(input) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let tables = std::hint::black_box(&TABLES);
    pair::drive_pair(
        input,
        run,
        |from, moves, planes, hits| by_planes!(planes, accumulate(tables, from, moves, hits)),
        |hits, free| free_words(hits, free),
    )
}
