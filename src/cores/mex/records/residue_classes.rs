//! Values by the residue classes of their heaps. See [`residues`].
//!
//! Cost and bound: see there; then counting.

use super::{Output, Records, Start, codes_of};
use crate::cores::mex::lanes::LANES;
use crate::cores::mex::residues::{self, Drive, OddMoves, row_words};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::moves::MoveSet;

/// Rates: the ns to compute the value of a heap, and to count it.
pub fn cost(input: &Records, _: CostContext, [heap, count]: [f64; 2]) -> Cost {
    if input.is_resumable || !takes(&input.set, input.limit) {
        return Cost::IMPOSSIBLE; // there is no history to save
    }
    let Cost { ns, bytes } = residues::cost(input.heaps(), heap);
    Cost { ns: ns + count * input.heaps() as f64, bytes }
}

/// Whether the kernel takes the moves up to the limit: the primes, or a finite set that suits [`residues`].
pub fn takes(set: &MoveSet, limit: u64) -> bool {
    const PROBE: u64 = 10_000;
    residues::suit(&set.up_to(limit.min(PROBE)), limit)
        && match set.largest() {
            Some(_) => set.even_up_to(limit).len() <= residues::MOST_MULTIPLES,
            None => *set == MoveSet::Primes,
        }
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start, drive: Drive) -> Result<Output, RunError> {
    if !start.is_default() {
        return Err(RunError::OutsideDomain);
    }
    let mut output = Output::default();
    let Records { set, limit, .. } = input;
    let moves = OddMoves::new(set.odd_up_to(*limit, row_words(*limit)), set.even_up_to(*limit), *limit)?;
    drive(&moves, input.heaps(), run, &mut |first, values| {
        for (b, values) in values.chunks(LANES).enumerate() {
            output.add(first + b * LANES, &codes_of(values));
        }
    })?;
    Ok(output)
}
