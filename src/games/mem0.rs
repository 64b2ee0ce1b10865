//! Mem0 (R. K. Guy and R. J. Nowakowski, "Unsolved Problems in Combinatorial Games", problem 22): heaps; a move takes any number
//! from one of them, but not the number that the last move on that heap took. Some Grundy values recur for ever: they occur at
//! infinitely many heaps (OEIS A351630). The answer is the largest one that heaps up to the limit prove.

use super::{Game, Question, Solution, SolveError, Solver, details};
use crate::cores::mex::memory::{Mem0, MexMemory};
use crate::kernel::Operation;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "mem0",
    title: "Mem0",
    question: "largest Grundy value that heaps 0..=limit prove to recur for ever, where a move may not repeat the last one",
    limit: "the largest heap",
    published: 500_000,
    far: &[4_000_000, 16_000_000],
    operations: &["mex_memory"],
    parameters: &[],
    solve,
    listing: None,
};

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let (found, kernel) = solver.apply::<MexMemory>(question.limit, Mem0::new)?;
    let answer = found.recurring.last().map_or(0, |last| last.value).into();
    Ok(Solution { answer, details: details(MexMemory::digest(&found), "answer"), kernels: vec![kernel] })
}
