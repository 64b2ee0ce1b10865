//! `nimlanes solve`

use std::collections::BTreeMap;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use nimlanes::games::{ChosenKernel, Figure, GAMES, Question, Solution, game};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::{Claim, Evidence};
use nimlanes::machine::peak_memory;
use nimlanes::units::bytes;
use serde::Serialize;
use serde_json::Value;

use super::arguments::settings::{Settings, games};
use super::arguments::{Kernels, number};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::with_progress;
use crate::terminal::output::{Document, headed, print, print_json, print_json_array, table};

/// Solve a game, or all of them at their published limits
#[derive(clap::Args)]
#[command(before_help = "Examples:\n  nimlanes solve stone-game --limit 16000\n  \
    nimlanes solve nim-square --limit 1e6 --moves cubes --json\n  \
    nimlanes solve proportionate-nim --limit 1e6 --moves 1:1,2:3\n  nimlanes solve scatterstone-nim --exact")]
pub struct Args {
    /// The game [default: all]
    #[arg(value_parser = PossibleValuesParser::new(games(false).map(|game| game.name)))]
    game: Option<String>,
    /// The size of the question, as in 1e7 [default: the published limit]
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true, requires = "game")]
    limit: Option<u64>,
    #[command(flatten)]
    kernels: Kernels,
    /// Print JSON: an object, or an array if no game is named
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings<false>,
}

#[derive(Serialize)]
pub struct Solved {
    /// The game.
    game: &'static str,
    /// The size of the problem.
    limit: u64,
    /// The parameters of the game, including defaults.
    parameters: BTreeMap<&'static str, String>,
    /// The question in words.
    question: &'static str,
    /// Decimal digits, as for all counts.
    answer: String,
    /// Further numbers: counts as decimal digits, ratios as numbers.
    details: BTreeMap<&'static str, Value>,
    /// The kernel of each operation.
    kernels: BTreeMap<&'static str, &'static str>,
    /// `observed` if a kernel is, else `exact`.
    claim: &'static str,
    /// How an observed kernel checked itself: numbers of its own, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    /// How long it took.
    seconds: f64,
    /// Peak memory of this process so far; 0 if the system does not report it.
    peak_bytes: u64,
}

impl Document for Solved {
    const SCHEMA: &'static str = "nimlanes-solve-2";
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let named = args.game.as_deref().map(game).transpose()?;
    let selection = args.kernels.selection(|operation| Ok(named.map_or(Ok(()), |game| game.uses(operation))?))?;
    let Some(game) = named else {
        let reports = GAMES.iter().map(|game| report(&game.question(game.published), &selection));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        return if args.json { print_json_array(&reports) } else { print(&summary(&reports)) };
    };
    let question = args.settings.question(game, args.limit.unwrap_or(game.published))?;
    let report = report(&question, &selection)?;
    if args.json { print_json(&report) } else { print(&text(&report)) }
}

fn report(question: &Question, selection: &Selection) -> Result<Solved, Failure> {
    let game = question.game();
    let run = interrupt::run(selection.threads());
    let start = Instant::now();
    let solved = with_progress(game, selection, &run, |solver| question.solve(solver));
    let seconds = start.elapsed().as_secs_f64();
    let Solution { answer, details, kernels, .. } = solved?;
    let value = |figure| match figure {
        Figure::Count(n) => Value::from(n.to_string()),
        Figure::Ratio(r) => Value::from(r),
    };
    Ok(Solved {
        game: game.name,
        limit: question.limit,
        parameters: question.parameters().collect(),
        question: game.question,
        answer: answer.to_string(),
        details: details.into_iter().map(|(name, figure)| (name, value(figure))).collect(),
        claim: kernels
            .iter()
            .map(|used| used.claim)
            .find(|claim| *claim != Claim::Exact)
            .unwrap_or(Claim::Exact)
            .name(),
        evidence: run.evidence(),
        kernels: kernels.into_iter().map(|ChosenKernel { operation, kernel, .. }| (operation, kernel)).collect(),
        seconds,
        peak_bytes: peak_memory(),
    })
}

impl Solved {
    fn kernels(&self) -> String {
        self.kernels.iter().map(|(operation, kernel)| format!("{operation}={kernel}")).collect::<Vec<_>>().join(" ")
    }
}

/// A table with one row per game.
fn summary(reports: &[Solved]) -> String {
    let row = |report: &Solved| {
        let seconds = format!("{:.6}", report.seconds);
        [report.game.to_owned(), report.limit.to_string(), report.answer.clone(), seconds, report.kernels()]
    };
    headed(["game", "limit", "answer", "seconds", "kernels"], reports.iter().map(row))
}

/// The details of one game, one per line.
fn text(report: &Solved) -> String {
    let parameters = report.parameters.iter().map(|(name, value)| format!(", {name} {value}"));
    let mut rows = vec![
        (report.game, format!("limit {}{}", report.limit, parameters.collect::<String>())),
        ("question", report.question.to_owned()),
        ("answer", report.answer.clone()),
    ];
    let figure = |value: &Value| match value.as_f64() {
        Some(ratio) => format!("{ratio:.9}"),
        None => value.as_str().unwrap_or_default().to_owned(),
    };
    rows.extend(report.details.iter().map(|(name, value)| (*name, figure(value))));
    rows.push(("kernels", report.kernels()));
    if report.claim == Claim::Observed.name() {
        rows.push(("claim", "observed, not proved".to_owned()));
    }
    rows.extend(report.evidence.iter().map(|evidence| ("evidence", evidence.summary.clone())));
    rows.push(("seconds", format!("{:.6}", report.seconds)));
    if report.peak_bytes > 0 {
        rows.push(("peak memory", bytes(report.peak_bytes as f64)));
    }
    table(rows.into_iter().map(|(name, value)| [name.to_owned(), value]))
}
