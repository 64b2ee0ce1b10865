//! Nim Square (Project Euler 310): three heaps; a move takes a square number from one of them.

use super::{Game, Question, Solution, SolveError, Solver, details};
use crate::cores::mex::subtraction::{MexSubtraction, Subtraction};
use crate::kernel::Operation;
use crate::moves::MoveSet;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "nim-square",
    question: "number of losing positions a<=b<=c<=limit of three heaps, taking a square number from one",
    published: 100_000,
    operations: &["mex_subtraction"],
    solve,
};

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let moves = question.moves.as_ref().unwrap_or(&MoveSet::Squares);
    let (values, mex) = solver.apply::<MexSubtraction>(question.limit, |limit| Subtraction::new(moves, limit))?;
    // The counting of triples is an operation of its own; until it stands here the zeros are the answer.
    let digest = MexSubtraction::digest(&values);
    Ok(Solution { answer: digest[1].1, details: details(digest, "zeros"), kernels: vec![mex] })
}
