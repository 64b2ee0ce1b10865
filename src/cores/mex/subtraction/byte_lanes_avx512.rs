//! Byte lanes decoded by byte permutes and shifts: see `lanes::avx512`.
//!
//! Cost per block, move and plane: one decode and half an OR; one load for all planes.
//! Bound (Zen 4): the vector ports, with 3 half-width slots at 4 per cycle, so 0.75 cycles; measured 0.81. A load that splits
//! a line takes 1.8 cycles, so below three planes loads are the bound.

use super::Subtraction;
use super::drive;
use crate::cores::mex::lanes::avx512::{BY_SHIFT, TABLES, accumulate, free_words};
use crate::cores::mex::lanes::{LANES, PLANES, by_planes};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    drive::cost(input, 0.23, 0.75, 1.0)
}

/// A load for each move; half an OR for each move and plane, and a permutation unless the plane is decoded by shifts.
pub fn needs(input: &Subtraction) -> Needs {
    let (loads, planes) = (input.pairs() / input.heaps() as f64 / LANES as f64, drive::planes(input));
    let by_permute = 1.0 - f64::from(BY_SHIFT.count_ones()) / PLANES as f64;
    Needs { loads, permutes: by_permute * planes, logic: 0.5 * planes, ..Needs::default() }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let tables = std::hint::black_box(&TABLES);
    drive::drive(
        input,
        run,
        |from, moves, planes, hits| by_planes!(planes, accumulate(tables, from, moves, hits)),
        |hits, free| free_words(hits, free),
    )
}
