//! How numbers and choices are read from the command line.

use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nimlanes::cores::named::pair;
use nimlanes::games::{Game, Question, game};
use nimlanes::kernel::Run;
use nimlanes::numbers::within;
use nimlanes::selection::Selection;
use nimlanes::session::Session;

use super::failure::Failure;
use super::interrupt;
use super::settings::{Settings, games};

pub use nimlanes::numbers::number;

/// A name that is in a list twice.
pub fn twice<T: PartialEq>(names: &[T]) -> Option<&T> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name)
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("not a number of seconds above 0 and at most 86400".to_owned()),
    }
}

/// No kernel gains from more threads, and each costs a stack.
const MOST_THREADS: u64 = 1024;

/// A number of threads.
#[derive(Args, Clone, Copy, Default)]
pub struct Threads {
    /// Threads that a kernel may use
    #[arg(long, value_name = "T", value_parser = within(1..=MOST_THREADS), allow_negative_numbers = true)]
    threads: Option<u64>,
}

impl Threads {
    /// The selection of the environment, with this many threads, or `otherwise` if none are named.
    pub fn selection(self, otherwise: Option<u64>) -> Result<Selection, Failure> {
        let selection = Selection::from_env()?;
        match self.threads.or(otherwise) {
            None => Ok(selection),
            Some(threads) => Ok(selection.with_threads(threads as usize)?),
        }
    }
}

/// Which kernels a game is solved with.
#[derive(Args, Default)]
pub struct Kernels {
    /// Name the kernel of an operation, as in table_scan=bit_rows; may be given more than once
    #[arg(long, value_name = "OPERATION=NAME")]
    kernel: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Run even if it is predicted to take more than a day
    #[arg(long)]
    force: bool,
}

impl Kernels {
    /// The selection of the environment with these choices. Kernels may be named for what `game` uses, or for anything if all
    /// games are meant.
    pub fn selection(&self, game: Option<&Game>) -> Result<Selection, Failure> {
        let mut selection = self.threads.selection(None)?;
        let pairs = self.kernel.iter().map(|text| pair(text)).collect::<Result<Vec<_>, _>>()?;
        if let Some(operation) = twice(&pairs.iter().map(|(operation, _)| operation).collect::<Vec<_>>()) {
            return Err(Failure::Usage(format!("--kernel names a kernel of {operation} twice; once is allowed")));
        }
        for (operation, kernel) in pairs {
            selection = selection.with_kernel(operation, kernel)?;
            game.map_or(Ok(()), |game| game.uses(operation))?;
        }
        Ok(if self.force { selection.allow_long() } else { selection })
    }
}

/// A game whose P-positions can be listed, and how far.
#[derive(Args)]
pub struct Board {
    /// The game
    #[arg(value_parser = PossibleValuesParser::new(games(true).map(|game| game.name)))]
    game: String,
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true, help = limits())]
    limit: u64,
    #[command(flatten)]
    kernels: Kernels,
    #[command(flatten)]
    settings: Settings<true>,
}

/// What a limit limits, game by game.
fn limits() -> String {
    let limits: Vec<String> = games(true).map(|game| format!("{}: {}", game.title, game.limit)).collect();
    format!("{} (1e7 and 10_000_000 are understood)", limits.join("; "))
}

/// What a [`Board`] names, and a run to find its positions.
pub struct Asked {
    pub question: Question,
    pub selection: Selection,
    pub run: Arc<Run>,
}

impl Board {
    /// What is asked for.
    pub fn ask(&self) -> Result<Asked, Failure> {
        let game = game(&self.game)?;
        let selection = self.kernels.selection(Some(game))?;
        let question = self.settings.question(game, self.limit)?;
        let run = interrupt::run(selection.threads());
        Ok(Asked { question, selection, run })
    }
}

/// An operation, one of its inputs and a size.
#[derive(Args)]
pub struct Target {
    /// The operation; `nimlanes kernels` lists them
    operation: String,
    /// A named input; the operation's first if left out
    #[arg(long, value_name = "W")]
    workload: Option<String>,
    /// Its size; the published one if left out (1e7 and 10_000_000 are understood)
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    size: Option<u64>,
}

impl Target {
    /// The input that is named, and the kernels as candidates for it.
    pub fn session(&self, selection: &Selection) -> Result<Box<dyn Session>, Failure> {
        let operation = nimlanes::cores::operation(&self.operation)?;
        let listed = operation.workloads();
        let workload = self.workload.as_deref().unwrap_or(listed[0].name);
        // A workload need not be listed: mex_subtraction takes any set.
        let published = listed.iter().find(|known| known.name == workload).unwrap_or(&listed[0]).published;
        Ok(operation.session(selection, workload, self.size.unwrap_or(published))?)
    }
}

/// The index of the kernel of that name, or else of the one that `selection` chooses, if it can do the input.
pub fn kernel(session: &dyn Session, selection: &Selection, name: Option<&str>) -> Result<usize, Failure> {
    match name {
        None => Ok(selection.kernel_of(session)?),
        Some(name) => Ok(selection.clone().with_kernel(session.operation(), name)?.kernel_of(session)?),
    }
}
