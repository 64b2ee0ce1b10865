//! Arguments shared by several commands.

pub mod listed;
pub mod repeated;
pub mod settings;
pub mod shard;

use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nimlanes::cores::named::{ByName, pair};
use nimlanes::games::{Question, game};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{AnyOperation, Session};
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{MAX_THREADS, Run};
use nimlanes::moves::Code;
use nimlanes::numbers::within;

use self::settings::{Settings, games};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;

pub use nimlanes::numbers::number;

/// The first name that occurs twice in a list.
pub fn duplicate<T: PartialEq>(names: &[T]) -> Option<&T> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name)
}

/// Parses a time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("not a number of seconds above 0 and at most 86400".to_owned()),
    }
}

/// Parses the code of a game. Files of a game are under its canonical code.
pub fn code(text: &str) -> Result<Code, Failure> {
    Ok(text.parse::<Code>().map_err(InputError::Code)?.canonical())
}

/// The `--threads` option.
#[derive(Args, Clone, Copy, Default)]
pub struct Threads {
    /// Number of threads that a kernel may use
    #[arg(short = 'j', long, value_name = "T", value_parser = within(1..=MAX_THREADS as u64), allow_negative_numbers = true)]
    threads: Option<u64>,
}

impl Threads {
    /// The selection from the environment, with this many threads; `otherwise` if the option is missing.
    pub fn selection(self, otherwise: Option<u64>) -> Result<Selection, Failure> {
        let selection = Selection::from_env()?;
        match self.threads.or(otherwise) {
            None => Ok(selection),
            Some(threads) => Ok(selection.with_threads(threads as usize)?),
        }
    }
}

/// The kernels to use, by name or by what they may cost.
#[derive(Args, Default)]
pub struct Kernels {
    /// Use this kernel of an operation, as in table_scan=bit_rows; can be repeated
    #[arg(long, value_name = "OP=NAME")]
    kernel: Vec<String>,
    #[command(flatten)]
    threads: Threads,
    /// Run even if it is predicted to take more than a day
    #[arg(long)]
    force: bool,
}

impl Kernels {
    /// Whether a kernel of this operation is named.
    pub fn names(&self, operation: &str) -> bool {
        self.kernel.iter().any(|text| pair(text).is_ok_and(|(named, _)| named == operation))
    }

    /// The selection from the environment with these choices. Kernels may be named for operations that are `used`.
    pub fn selection(&self, used: impl Fn(&str) -> Result<(), Failure>) -> Result<Selection, Failure> {
        let mut selection = self.threads.selection(None)?;
        let pairs = self.kernel.iter().map(|text| pair(text)).collect::<Result<Vec<_>, _>>()?;
        if let Some(operation) = duplicate(&pairs.iter().map(|(operation, _)| operation).collect::<Vec<_>>()) {
            return Err(Failure::Usage(format!("--kernel names a kernel of {operation} twice; once is allowed")));
        }
        for (operation, kernel) in pairs {
            selection = selection.with_kernel(operation, kernel)?;
            used(operation)?;
        }
        Ok(if self.force { selection.allow_long() } else { selection })
    }

    /// The same for a command that uses these operations.
    pub fn selection_for(&self, command: &str, used: &[&str]) -> Result<Selection, Failure> {
        self.selection(|operation| match used.contains(&operation) {
            true => Ok(()),
            false => {
                let used = used.join(", ");
                Err(Failure::Usage(format!("{command} does not use {operation} for these options; allowed: {used}")))
            }
        })
    }
}

/// A game whose P-positions can be listed, and its limit.
#[derive(Args)]
pub struct PositionArgs {
    /// The game
    #[arg(value_parser = PossibleValuesParser::new(games(true).map(|game| game.name)))]
    game: Option<String>, // commands check when it is required
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true, help = limits())]
    pub limit: u64,
    #[command(flatten)]
    pub kernels: Kernels,
    #[command(flatten)]
    settings: Settings<true>,
}

/// Help text of `--limit`: what it limits in each game.
fn limits() -> String {
    let limits: Vec<String> = games(true).map(|game| format!("{}: {}", game.title, game.limit)).collect();
    format!("{} (as in 1e7)", limits.join("; "))
}

impl PositionArgs {
    /// Whether an option of a game is given.
    pub fn has_settings(&self) -> bool {
        !self.settings.is_empty()
    }

    /// The question that is described, with the kernels and the run to answer it.
    pub fn query(&self) -> Result<(Question, Selection, Arc<Run>), Failure> {
        let game = game(self.game.as_deref().unwrap_or_default())?;
        let selection = self.kernels.selection(|operation| Ok(game.uses(operation)?))?;
        let question = self.settings.question(game, self.limit)?;
        let run = interrupt::run(selection.threads());
        Ok((question, selection, run))
    }
}

/// An operation, a workload and a size.
#[derive(Args)]
pub struct Target {
    /// The operation; `nimlanes kernels` lists them
    operation: String,
    /// The workload [default: the first one of the operation]
    #[arg(long, value_name = "W", value_parser = listed::moves)]
    workload: Option<String>,
    /// The size, such as 1e7 [default: the published one; for run and profile, one that takes at most two seconds]
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    size: Option<u64>,
}

impl Target {
    /// The operation.
    fn operation(&self) -> Result<&'static AnyOperation, Failure> {
        Ok(nimlanes::cores::operation(&self.operation)?)
    }

    /// Opens a session for this input.
    pub fn session(&self, selection: &Selection) -> Result<Box<dyn Session>, Failure> {
        self.session_at(self.size_or_published()?, selection)
    }

    /// Opens a session for this input at another size.
    fn session_at(&self, size: u64, selection: &Selection) -> Result<Box<dyn Session>, Failure> {
        let operation = self.operation()?;
        let workload = self.workload.as_deref().unwrap_or(operation.workloads()[0].name);
        Ok(operation.session(selection, workload, size)?)
    }

    /// The size, by default that at which the workload was published.
    fn size_or_published(&self) -> Result<u64, Failure> {
        let listed = self.operation()?.workloads();
        // The workload need not be listed: mex_subtraction accepts any set.
        let named = listed.iter().find(|known| Some(known.name) == self.workload.as_deref());
        Ok(self.size.unwrap_or(named.unwrap_or(&listed[0]).published))
    }
}

/// The index of the named kernel, or of the one that `selection` chooses. It must be able to process the input.
pub fn kernel(session: &dyn Session, selection: &Selection, name: Option<&str>) -> Result<usize, Failure> {
    match name {
        None => Ok(selection.kernel_of(session)?),
        Some(name) => Ok(selection.clone().with_kernel(session.operation(), name)?.kernel_of(session)?),
    }
}
