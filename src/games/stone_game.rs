//! The Stone Game (Project Euler 260): three heaps; a move takes the same amount from each of one, two or three of
//! them. The answer is the sum of `x + y + z` over the P-positions `x <= y <= z <= limit`.
//!
//! # Corrections to the sources
//! A widely copied dynamic program omits the move in all three heaps. It solves a different game, [`Rule::OneOrTwo`],
//! and gives 194965 at limit 100, where the Stone Game has 173895. A write-up with seven keys is correct but omits two
//! cuts: a pair `(x,y)` whose key is used needs no scan, and a scan may stop at its first P-position.
//!
//! # Growth
//! Observed, not proved: the number `P` of P-positions grows as `N^2` and the sum `S` as `N^3`, both with an oscillation of
//! a few tenths of a percent.
//!
//! | `N` | `P / N^2` | `S / N^3` |
//! |---|---|---|
//! | 1000 | 0.12106 | 0.16754 |
//! | 2000 | 0.12049 | 0.16666 |
//! | 5000 | 0.12040 | 0.16658 |
//! | 10000 | 0.12050 | 0.16688 |
//! | 20000 | 0.12027 | 0.16636 |
//! | 40000 | 0.12040 | 0.16676 |

use super::{
    ChosenKernel, FoundPositions, Game, Listing, Parameter, Question, Setter, Solution, SolveError, Solver, Takes,
    details, handed_to, held,
};
use crate::cores::table_scan::{Positions, Rule, StoneGame, TableScan, Wanted};

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "stone-game",
    title: "Stone Game",
    question: "sum of x+y+z over the P-positions of three heaps x<=y<=z<=limit",
    limit: "the largest heap",
    published: 1000,
    far: &[10_000, 20_000, 40_000],
    operations: &["table_scan"],
    parameters: &[&RULE],
    solve,
    listing: Some(Listing {
        caption,
        whole: |question, solver| list(question, solver, Wanted::Positions),
        stream: |question, solver, receiver| list(question, solver, handed_to(receiver)),
    }),
};

static RULE: Parameter = Parameter {
    name: "rule",
    published: || held(Rule::AllMoves),
    setters: &[Setter {
        name: "rule",
        help: "which heaps a move may take from",
        takes: Takes::OneOf { value: "RULE", all: || Rule::ALL.iter().copied().map(held).collect() },
    }],
};

fn caption(question: &Question) -> String {
    let rule = match question.get(&RULE) {
        Rule::AllMoves => "all moves",
        Rule::OneOrTwo => "one or two heaps",
    };
    format!("Stone Game, {rule}")
}

fn scan(
    question: &Question,
    solver: &Solver,
    wanted: Wanted<[u32; 3]>,
) -> Result<(Positions, ChosenKernel), SolveError> {
    let input = |limit| Ok(StoneGame::new(limit, *question.get(&RULE))?.finding(wanted.clone()));
    solver.apply::<TableScan>(question.limit, input)
}

fn list(question: &Question, solver: &Solver, wanted: Wanted<[u32; 3]>) -> Result<FoundPositions, SolveError> {
    let (found, used) = scan(question, solver, wanted)?;
    Ok(FoundPositions { positions: found.into_list().into(), used })
}

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let (found, used) = scan(question, solver, Wanted::Totals)?;
    let tally = found.totals();
    Ok(Solution { answer: tally.sum.into(), details: details(tally.digest(), "sum"), kernels: vec![used] })
}
