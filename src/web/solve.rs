//! Answers to questions about games.

use std::time::Instant;

use nimlanes::games::{Figure, Solver};
use serde::Serialize;

use crate::{Asked, Failure, question, say, time};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// The operation that is about to run.
    Stage {
        operation: &'static str,
        kernel: &'static str,
        time: String,
    },
    Solution(Solution),
}

#[derive(Serialize)]
struct Solution {
    title: &'static str,
    question: &'static str,
    limit: u64,
    /// Name and value of each parameter of the game.
    parameters: Vec<(&'static str, String)>,
    /// Decimal digits: the answer may exceed what a number in JSON represents exactly.
    answer: String,
    details: Vec<(&'static str, String)>,
    /// Operation, kernel, and whether its answers are proved.
    kernels: Vec<[&'static str; 3]>,
    /// How an observed kernel checked itself.
    evidence: Option<String>,
    time: String,
}

pub fn answer(asked: Asked) -> Result<(), Failure> {
    let (question, selection) = question(asked)?;
    let run = selection.run();
    let watcher = |stage: &nimlanes::games::Stage| {
        let (operation, kernel) = (stage.used.operation, stage.used.kernel);
        let line = Line::Stage { operation, kernel, time: time(stage.ns / 1e9) };
        // If this fails, so will reporting the solution, whose error is returned.
        let _ = say(&line);
    };
    let start = Instant::now();
    let solution = question.solve(&Solver::new(&selection, &run).watched_by(&watcher))?;
    let time = time(start.elapsed().as_secs_f64());
    let text = |figure| match figure {
        Figure::Count(count) => count.to_string(),
        Figure::Ratio(ratio) => format!("{ratio:.9}"),
    };
    say(&Line::Solution(Solution {
        title: question.game().title,
        question: question.game().question,
        limit: question.limit,
        parameters: question.parameters().collect(),
        answer: solution.answer.to_string(),
        details: solution.details.into_iter().map(|(name, figure)| (name, text(figure))).collect(),
        kernels: solution.kernels.iter().map(|used| [used.operation, used.kernel, used.claim.name()]).collect(),
        evidence: run.evidence().map(|evidence| evidence.summary),
        time,
    }))?;
    Ok(())
}
