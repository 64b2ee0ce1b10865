//! Benches of complete games: groups `games/<game>`, ids `<choice>/<limit>`. For each operation, the choices use:
//!
//! - `baseline`: the first kernel of its list that is not too slow for a bench;
//! - `best_plain`: the fastest in plain Rust: no intrinsics, crates or threads;
//! - `best`: the fastest, which is what the program selects by default.
//!
//! All are timed by the wall clock, as the best may use threads.

use std::cell::OnceCell;
use std::time::Duration;

use criterion::{BenchmarkId, SamplingMode};
use nimlanes::cores::named::ByName;
use nimlanes::games::{BigUint, GAMES, Game, Solution, Solver};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::known;

use crate::cores::{Contender, contenders};
use crate::pass::{Task, time};
use crate::{Bench, Plan};

/// Small limits show the fixed cost of a game.
const SMALL: [u64; 2] = [10, 100];

/// The benchmarks of this run.
pub fn tasks<'a>(selection: &'a Selection, plan: &'a Plan) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for game in GAMES {
        for limit in limits(game).filter(|limit| any_is_picked(game, *limit, plan)) {
            for choice in choices(game, limit, plan, selection) {
                let id = id(game, choice.name, limit);
                if plan.arguments.picks(&id) {
                    let predicted = choice.predicted;
                    let time = Box::new(move || time(|| drop(choice.solve(game, limit))));
                    tasks.push(Task { id, predicted, is_one_run: false, time });
                }
            }
        }
    }
    tasks
}

fn id(game: &Game, choice: &str, limit: u64) -> String {
    format!("games/{}/{choice}/{limit}", game.name)
}

/// Whether the command line picks a choice for a game at a limit.
fn any_is_picked(game: &Game, limit: u64, plan: &Plan) -> bool {
    CHOICES.iter().any(|(choice, _)| plan.arguments.picks(&id(game, choice, limit)))
}

fn limits(game: &Game) -> impl Iterator<Item = u64> {
    SMALL.into_iter().chain([game.published])
}

pub fn run(Bench { selection, plan, instrument, criterion, .. }: &mut Bench) {
    instrument.set_clock(Clock::Wall);
    for game in GAMES {
        let mut group = criterion.benchmark_group(format!("games/{}", game.name));
        group.sampling_mode(SamplingMode::Flat);
        for limit in limits(game).filter(|limit| any_is_picked(game, *limit, plan)) {
            let expected = OnceCell::new();
            for choice in choices(game, limit, plan, selection) {
                let asserted = OnceCell::new();
                plan.apply(&mut group, choice.predicted);
                group.bench_function(BenchmarkId::new(choice.name, limit), |bencher| {
                    asserted.get_or_init(|| choice.check(game, limit, &expected));
                    bencher.iter(|| choice.solve(game, limit));
                });
            }
        }
        group.finish();
    }
}

/// A choice of kernels for a game.
struct Choice {
    name: &'static str,
    selection: Selection,
    predicted: Duration,
}

/// The choices for a game at a limit, which is also the size of the default workloads of its operations.
fn choices(game: &Game, limit: u64, plan: &Plan, selection: &Selection) -> impl Iterator<Item = Choice> {
    let operation = |name: &&'static str| {
        let operation = nimlanes::cores::operation(name).expect("a game names operations");
        let session = operation.session(selection, operation.workloads()[0].name, limit).expect("a limit of its game");
        let contenders = contenders(session.as_ref(), selection.threads()).into_iter();
        (*name, contenders.filter(|contender| plan.admits(contender.predicted)).collect())
    };
    let operations: Vec<(&str, Vec<Contender>)> = game.operations.iter().map(operation).collect();
    CHOICES.iter().filter_map(move |(name, pick)| {
        let mut choice = Choice { name, selection: selection.clone(), predicted: Duration::ZERO };
        for (operation, contenders) in &operations {
            let kernel = pick(contenders)?;
            let named = choice.selection.with_kernel(operation, kernel.info.name);
            choice.selection = named.expect("a kernel that can run");
            choice.predicted += kernel.predicted;
        }
        Some(choice)
    })
}

/// How a choice picks the kernel of an operation.
type Pick = fn(&[Contender]) -> Option<&Contender>;

const CHOICES: [(&str, Pick); 3] = [
    ("baseline", |all| all.first()),
    ("best_plain", |all| all.iter().filter(|c| c.info.is_plain()).min_by_key(|c| c.predicted)),
    ("best", |all| all.iter().min_by_key(|c| c.predicted)),
];

impl Choice {
    fn solve(&self, game: &'static Game, limit: u64) -> Solution {
        let run = Run::new(self.selection.threads());
        game.question(limit)
            .solve(&Solver::new(&self.selection, &run))
            .unwrap_or_else(|error| panic!("{}: {error}", game.name))
    }

    /// Asserts that the answer equals the known one, if there is one, and the answers of the other choices.
    fn check(&self, game: &'static Game, limit: u64, expected: &OnceCell<BigUint>) {
        let solution = self.solve(game, limit);
        if let Some(known) = known::find_game(game, limit) {
            known.check(&solution.digest()).unwrap_or_else(|difference| panic!("{difference}"));
        }
        let answer = solution.answer;
        assert_eq!(&answer, expected.get_or_init(|| answer.clone()), "{} {limit}: {}", game.name, self.name);
    }
}
