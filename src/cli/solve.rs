//! `nimlanes solve`

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use nimlanes::games::{
    Count, Diagonals, Figure, GAMES, Game, Question, Rule, Solution, Solver, game, proportionate_nim,
};
use nimlanes::kernel::InputError;
use nimlanes::moves::MoveSet;
use nimlanes::selection::Selection;
use serde::Serialize;

use super::args::{Threads, number};
use super::failure::Failure;
use super::interrupt;
use super::monitor::Monitor;
use super::output::{print, print_json, table};

/// Solve a game, or all of them at their published limits
#[derive(clap::Args, Default)]
#[command(after_help = "Examples:\n  nimlanes solve stone-game --limit 16000\n  \
    nimlanes solve nim-square --limit 1e6 --moves cubes --json\n  \
    nimlanes solve proportionate-nim --limit 1e6 --moves 1:1,2:3\n  nimlanes solve scatterstone-nim --exact")]
pub struct Args {
    /// The game; all of them if none is named
    #[arg(value_parser = PossibleValuesParser::new(GAMES.iter().map(|game| game.name)))]
    game: Option<String>,
    /// The size of the question; the published one if left out (1e7 and 10_000_000 are understood)
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true, requires = "game")]
    limit: Option<u64>,
    /// Stone Game: which heaps a move may take from
    #[arg(long, value_parser = ["all", "one-or-two"], requires = "game")]
    rule: Option<String>,
    /// Nim Square: squares, cubes, triangular, primes, factorials, fibonacci, a list a,b,c or a range 1..k. Proportionate Nim:
    /// the moves from both heaps, 1:1,1:2 if left out; p:q takes p t and q t for any t, either way round (1:1 is Wythoff's
    /// game, none is Nim)
    #[arg(long, value_name = "SET", requires = "game", allow_hyphen_values = true)]
    moves: Option<String>,
    /// Nim Square: the number of heaps, counted exactly; 3 if left out
    #[arg(long, value_name = "M", requires = "game")]
    heaps: Option<u32>,
    /// Scatterstone Nim: count modulo an odd number below 2^31; 1000000007 if left out
    #[arg(long, value_name = "MODULUS", value_parser = number, requires = "game", conflicts_with = "exact")]
    modulus: Option<u64>,
    /// Scatterstone Nim: give the number itself, up to 127 bits
    #[arg(long, requires = "game")]
    exact: bool,
    /// Name the kernel of an operation, as in mex_subtraction=stamp; may be given more than once
    #[arg(long, value_name = "OPERATION=NAME")]
    kernel: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Run even if it is predicted to take more than a day
    #[arg(long)]
    force: bool,
    /// Print JSON: an object, or an array if no game is named
    #[arg(long)]
    json: bool,
}

impl Args {
    /// All games at their published limits.
    pub fn all(json: bool) -> Self {
        Args { json, ..Default::default() }
    }
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    game: &'static str,
    limit: u64,
    answer: String,
    details: BTreeMap<&'static str, Value>,
    kernels: BTreeMap<&'static str, &'static str>,
    seconds: f64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Count(u128),
    Ratio(f64),
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let mut selection = args.threads.selection(None)?;
    for pair in &args.kernel {
        selection = selection.with_kernel(pair)?;
    }
    if args.force {
        selection = selection.allow_long();
    }
    let Some(name) = &args.game else {
        let reports = GAMES.iter().map(|game| report(game, &Question::new(game.published), &selection));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        return if args.json { print_json(&reports) } else { print(&summary(&reports)) };
    };
    let game = game(name)?;
    for (operation, _) in args.kernel.iter().filter_map(|pair| pair.split_once('=')) {
        game.uses(operation)?;
    }
    let has_diagonals = game.name == proportionate_nim::GAME.name;
    let question = Question {
        rule: args.rule.as_deref().map(|rule| if rule == "all" { Rule::AllMoves } else { Rule::OneOrTwo }),
        moves: args
            .moves
            .as_deref()
            .filter(|_| !has_diagonals)
            .map(MoveSet::from_str)
            .transpose()
            .map_err(InputError::from)?,
        diagonals: args
            .moves
            .as_deref()
            .filter(|_| has_diagonals)
            .map(Diagonals::from_str)
            .transpose()
            .map_err(InputError::from)?,
        heaps: args.heaps,
        count: if args.exact { Count::Exact } else { args.modulus.map_or_else(Count::default, Count::Modulo) },
        ..Question::new(args.limit.unwrap_or(game.published))
    };
    let report = report(game, &question, &selection)?;
    if args.json { print_json(&report) } else { print(&text(&report, game)) }
}

fn report(game: &'static Game, question: &Question, selection: &Selection) -> Result<Report, Failure> {
    let run = interrupt::run(selection.threads());
    let monitor = Mutex::new(None);
    let watcher = |operation: &str, kernel: &str, steps: u64, _: f64| {
        let shown = Monitor::new(format!("{}: {operation}={kernel}", game.name), &run, steps);
        *monitor.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
    };
    let start = Instant::now();
    let solved = game.solve(question, &Solver { selection, run: &run, watcher: &watcher });
    let seconds = start.elapsed().as_secs_f64();
    drop(monitor);
    let Solution { answer, details, kernels } = solved?;
    let value = |figure| match figure {
        Figure::Count(n) => Value::Count(n),
        Figure::Ratio(r) => Value::Ratio(r),
    };
    Ok(Report {
        schema: "nimlanes-solve-1",
        game: game.name,
        limit: question.limit,
        answer: answer.to_string(),
        details: details.into_iter().map(|(name, figure)| (name, value(figure))).collect(),
        kernels: kernels.into_iter().collect(),
        seconds,
    })
}

impl Report {
    fn kernels(&self) -> String {
        self.kernels.iter().map(|(operation, kernel)| format!("{operation}={kernel}")).collect::<Vec<_>>().join(" ")
    }
}

/// A row for each game.
fn summary(reports: &[Report]) -> String {
    let mut rows = vec![["game", "limit", "answer", "seconds", "kernels"].map(str::to_owned).to_vec()];
    rows.extend(reports.iter().map(|report| {
        let seconds = format!("{:.6}", report.seconds);
        vec![report.game.to_owned(), report.limit.to_string(), report.answer.clone(), seconds, report.kernels()]
    }));
    table(&rows)
}

/// One game, a line for each thing there is to say.
fn text(report: &Report, game: &Game) -> String {
    let mut rows =
        vec![(game.name, format!("limit {}: {}", report.limit, game.question)), ("answer", report.answer.clone())];
    rows.extend(report.details.iter().map(|(name, value)| match value {
        Value::Count(n) => (*name, n.to_string()),
        Value::Ratio(r) => (*name, format!("{r:.9}")),
    }));
    rows.push(("kernels", report.kernels()));
    rows.push(("seconds", format!("{:.6}", report.seconds)));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect()
}
