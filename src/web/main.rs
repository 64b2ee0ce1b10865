//! The module of the page: a program for engines of WebAssembly. It reads a request, a line of JSON, from standard
//! input, and answers with lines of JSON while it works: its results, and at the end `done` or `error`. Each request
//! has a process of its own, so no state remains for the next one, and the page stops a request by ending its worker.

mod family;
mod race;
mod solve;

use std::collections::BTreeMap;
use std::io::{self, Write};

use nimlanes::cores::named::{ByName, NameError, pair};
use nimlanes::games::{Question, SolveError, game};
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;
use nimlanes::numbers::number;
use nimlanes::units::span;
use serde::{Deserialize, Serialize};

/// A request of the page. Settings are texts, as a person typed them.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    Solve(Asked),
    Race(race::Asked),
    Family(family::Asked),
}

/// A game and its settings: the limit, kernels, and what the game declares.
#[derive(Deserialize)]
struct Asked {
    name: String,
    settings: Settings,
}

/// The settings, by name.
type Settings = BTreeMap<String, String>;

/// Why a request failed, in a line.
type Failure = Box<dyn std::error::Error>;

/// The last line of an answer.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum End {
    Done,
    Error(String),
}

fn main() {
    let answer = || -> Result<(), Failure> {
        match serde_json::from_reader(io::stdin().lock())? {
            Request::Solve(asked) => solve::answer(asked),
            Request::Race(asked) => race::answer(asked),
            Request::Family(asked) => family::answer(asked),
        }
    };
    let end = answer().map_or_else(|failure| End::Error(failure.to_string()), |()| End::Done);
    // If this fails, there is nobody left to report to.
    let _ = say(&end);
}

/// Writes a line.
fn say(line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}

/// The limit that the request sets, or `otherwise`.
fn limit(settings: &mut Settings, otherwise: u64) -> Result<u64, Failure> {
    let Some(text) = settings.remove("limit") else { return Ok(otherwise) };
    number(&text).map_err(|error| format!("limit `{text}` is {error}").into())
}

/// The choice of kernels: by the setting `kernel`, in the form of the command line.
fn selection(settings: &mut Settings) -> Result<Selection, NameError> {
    let selection = Selection::new(Machine::detect());
    match settings.remove("kernel") {
        None => Ok(selection),
        Some(text) => pair(&text).and_then(|(operation, kernel)| selection.with_kernel(operation, kernel)),
    }
}

/// A time with its unit.
fn time(seconds: f64) -> String {
    span(1e9 * seconds)
}

/// The question about a game.
fn question(Asked { name, mut settings }: Asked) -> Result<(Question, Selection), Failure> {
    let game = game(&name)?;
    let selection = selection(&mut settings)?;
    let question = game.question(limit(&mut settings, game.published)?);
    let with = |question: Question, (name, value): (String, String)| question.with(&name, value);
    let question = settings.into_iter().try_fold(question, with).map_err(|error| match error {
        SolveError::NoSetting { .. } => format!("{error}, limit, kernel"),
        error => error.to_string(),
    })?;
    Ok((question, selection))
}
