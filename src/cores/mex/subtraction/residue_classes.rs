//! Values by the residue classes of their heaps. See [`residues`]. If a value passes 62, [`byte_lanes`] computes them
//! all.
//!
//! Cost and bound: see there.

use super::{Subtraction, byte_lanes};
use crate::cores::mex::lanes::plain;
use crate::cores::mex::residues::{self, Drive, OddMoves, row_words};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::moves::{even, odd_row};

/// Predicted values, at most: fewer than fit, because a prediction may be too low.
const MOST_VALUES: f64 = 40.0;

/// Rates: the ns of a heap and of a move.
pub fn cost(input: &Subtraction, _: CostContext, [heap, each]: [f64; 2]) -> Cost {
    if !residues::suit(input.moves(), input.limit()) || input.values() > MOST_VALUES {
        return Cost::IMPOSSIBLE;
    }
    let Cost { ns, bytes } = residues::cost(input.heaps(), heap);
    Cost { ns: ns + each * input.moves().len() as f64, bytes: bytes + 2.0 * input.heaps() as f64 }
}

pub fn run(input: &Subtraction, run: &Run, drive: Drive) -> Result<Vec<u16>, RunError> {
    let (moves, limit) = (input.moves(), input.limit());
    let moves = OddMoves::new(odd_row(moves, row_words(limit)), even(moves).collect(), limit)?;
    let mut values = Vec::with_capacity(input.heaps());
    let computed = drive(&moves, input.heaps(), run, &mut |_, block| {
        for v in block {
            values.push(u16::from(*v));
        }
    });
    if computed != Err(RunError::Overflow) {
        return computed.map(|()| values);
    }
    let done = values.len();
    drop(values);
    let values = byte_lanes::run(input, &run.counted_apart(), plain::parts())?;
    run.advance((input.heaps() - done) as u64)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::mex::subtraction::MexSubtraction;
    use crate::kernel::Operation;
    use crate::machine::Machine;
    use crate::moves::{MoveSet, fraction};

    /// One odd number of ten, at random, and three even ones.
    #[test]
    fn more_values_than_fit() {
        let is_move = |m: &u64| matches!(m, 4 | 6 | 10) || m % 2 == 1 && fraction(*m) < 0.1;
        let set = MoveSet::list((1..10_000).filter(is_move).collect()).expect("ascending");
        let input = Subtraction::new(&set, 9_999, &Machine::detect()).expect("it fits in memory");
        let want = MexSubtraction::oracle(&input);
        assert!(want.iter().any(|v| *v > 62), "all values fit");
        let counted = Run::new(1);
        assert!(run(&input, &counted, residues::plain::parts()).expect("it runs to its end") == want);
        assert_eq!(counted.done(), MexSubtraction::steps(&input));
    }
}
