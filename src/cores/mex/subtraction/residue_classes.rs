//! Values by the residue classes of their heaps. See [`residues`].
//!
//! Cost and bound: see there.

use super::Subtraction;
use crate::cores::mex::residues::{self, Moves, row_words};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::moves::{even, odd_row};

pub fn cost(input: &Subtraction, context: CostContext) -> Cost {
    if !residues::takes(input.moves(), input.limit()) {
        return Cost::IMPOSSIBLE;
    }
    let Cost { ns, bytes } = residues::cost(input.heaps(), context.tier);
    Cost { ns: ns + input.moves().len() as f64, bytes: bytes + 2.0 * input.heaps() as f64 }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let (moves, limit) = (input.moves(), input.limit());
    let moves = Moves::new(odd_row(moves, row_words(limit)), even(moves).collect(), limit)?;
    let mut values = Vec::with_capacity(input.heaps());
    residues::drive(&moves, input.heaps(), run, |_, block| values.extend(block.iter().map(|v| u16::from(*v))))?;
    Ok(values)
}
