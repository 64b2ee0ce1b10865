//! Nim Square (Project Euler 310): three heaps; a move takes a square number from one of them. The answer is the number of
//! P-positions `a <= b <= c <= limit`: by Sprague and Grundy those whose three Grundy values have nim-sum 0. Other subtraction
//! sets may stand in for the squares.
//!
//! # Corrections to the source
//! The published answer is right. Its program goes wrong at other limits:
//! - it sizes its table of frequencies with `while (next < max)` where `<=` is meant, and writes past its end when the largest
//!   value is a power of two: limits 1-24, 28, 200-233, 1173-1310 and more;
//! - its 80 flags hold the values up to limit 124063 only;
//! - its 32-bit frequencies overflow just above limit 1e6.

use super::{Game, Question, Solution, SolveError, Solver, details};
use crate::cores::mex::subtraction::{MexSubtraction, Subtraction};
use crate::cores::xor_count::triples::{Values, XorTriples};
use crate::kernel::Operation;
use crate::moves::MoveSet;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "nim-square",
    question: "number of losing positions a<=b<=c<=limit of three heaps, taking a square number from one",
    published: 100_000,
    operations: &["mex_subtraction", "xor_triples"],
    solve,
};

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let moves = question.moves.as_ref().unwrap_or(&MoveSet::Squares);
    let (values, mex) = solver.apply::<MexSubtraction>(question.limit, |limit| Subtraction::new(moves, limit))?;
    let details = details(MexSubtraction::digest(&values), "");
    let (answer, triples) = solver.apply_to::<XorTriples>(&Values(values))?;
    Ok(Solution { answer, details, kernels: vec![mex, triples] })
}

/// The multisets of three values with nim-sum 0, counted one by one.
pub fn oracle(values: &[u16]) -> u128 {
    let mut triples = 0;
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i) {
            triples += values[j..].iter().filter(|c| a ^ b ^ **c == 0).count() as u128;
        }
    }
    triples
}
