//! What a report is made of: measurements in the files of one folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::kernel::Needs;
use crate::lab::ceilings::Reading;
use crate::lab::duel::{Duel, Skipped};
use crate::lab::environment::Environment;
use crate::lab::numbers::{positive, positive_or_zero};
use crate::lab::saved::{Measured, Mixed, Saved, SavedError, read_kind};

/// How the measurements of a folder were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Made in a hurry: fewer sizes and rounds.
    pub draft: bool,
    /// Kernels predicted to take longer for a run were left out.
    #[serde(deserialize_with = "positive_or_zero")]
    pub patience_seconds: f64,
    /// What the last measuring took in all.
    #[serde(deserialize_with = "positive_or_zero")]
    pub took_seconds: f64,
}

/// First and later runs of the kernels of one operation, each in a process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Starts {
    /// The input.
    #[serde(flatten)]
    pub case: Case,
    /// Kernels, in list order.
    pub rows: Vec<Start>,
    /// Kernels that were left out.
    pub skipped: Vec<Skipped>,
}

/// One kernel in a process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The kernel.
    pub kernel: String,
    /// Threads it could use.
    pub threads: usize,
    /// `thread` or `wall`.
    pub clock: String,
    /// The first run, which meets cold caches and fresh pages.
    #[serde(deserialize_with = "positive")]
    pub first_seconds: f64,
    /// Median of the later runs; that of the first if there was no other.
    #[serde(deserialize_with = "positive")]
    pub later_seconds: f64,
    /// Runs in all.
    pub runs: usize,
    /// Peak resident bytes of the process before the first run, the input included.
    pub idle_bytes: u64,
    /// Peak resident bytes of the process in the end.
    pub peak_bytes: u64,
}

/// A game solved with different kernels, in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameDuel {
    /// The game.
    pub game: String,
    /// Its limit.
    pub limit: u64,
    /// `thread` or `wall`.
    pub clock: String,
    /// The casts, the source's way first.
    pub rows: Vec<GameRow>,
}

/// A game solved once, far past its published limit, in a process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Far {
    /// The game.
    pub game: String,
    /// Its limit.
    pub limit: u64,
    /// The answer, in digits.
    pub answer: String,
    /// Operations, and the kernels that were selected for them.
    pub kernels: BTreeMap<String, String>,
    /// By the wall, all threads allowed.
    #[serde(deserialize_with = "positive")]
    pub seconds: f64,
    /// Peak resident bytes of the process; 0 where the system does not say.
    pub peak_bytes: u64,
}

/// One choice of kernels for a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRow {
    /// `baseline`, `best_plain` or `best`.
    pub cast: String,
    /// `operation=kernel`, in the order of the game's operations.
    pub kernels: Vec<String>,
    /// Rounds.
    pub rounds: usize,
    /// Median time of a solution.
    #[serde(deserialize_with = "positive")]
    pub median_seconds: f64,
    /// First cast's time over this one's, median over the rounds.
    #[serde(deserialize_with = "positive")]
    pub ratio: f64,
    /// A tenth of the rounds gave a lower ratio.
    #[serde(deserialize_with = "positive")]
    pub ratio_low: f64,
    /// A tenth of the rounds gave a higher ratio.
    #[serde(deserialize_with = "positive")]
    pub ratio_high: f64,
}

/// What is selected for one thread, by size and by the strongest tier allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// One for each input and tier.
    pub rows: Vec<Choice>,
}

/// One selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The input.
    #[serde(flatten)]
    pub case: Case,
    /// The strongest tier allowed.
    pub tier: String,
    /// The kernel.
    pub kernel: String,
}

/// Selected kernels against others, at sizes that no duel of all kernels is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    /// One for each input.
    pub rows: Vec<Trial>,
}

/// The selected kernel against those that are predicted to need not much longer, on one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The input.
    #[serde(flatten)]
    pub case: Case,
    /// The selected kernel.
    pub selected: String,
    /// The quickest.
    pub quickest: String,
    /// How many took part.
    pub kernels: usize,
    /// Time of the selected kernel over that of the quickest, median over the rounds.
    #[serde(deserialize_with = "positive")]
    pub loss: f64,
    /// A tenth of the rounds gave a lower one.
    #[serde(deserialize_with = "positive")]
    pub loss_low: f64,
    /// A tenth of the rounds gave a higher one.
    #[serde(deserialize_with = "positive")]
    pub loss_high: f64,
}

/// How steady the clocks are: one kernel timed again and again, alone and beside neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clocks {
    /// What was run: `operation/workload/kernel/size`.
    pub subject: String,
    /// One for each clock and neighbourhood.
    pub rows: Vec<ClockRow>,
}

/// One clock in one neighbourhood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockRow {
    /// `thread` or `wall`.
    pub clock: String,
    /// What ran at the same time.
    pub neighbours: String,
    /// Median time of a run.
    #[serde(deserialize_with = "positive")]
    pub median_seconds: f64,
    /// A tenth of the runs took less.
    #[serde(deserialize_with = "positive")]
    pub low_seconds: f64,
    /// A tenth of the runs took more.
    #[serde(deserialize_with = "positive")]
    pub high_seconds: f64,
}

/// What this machine can do at best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// One for each ceiling.
    pub rows: Vec<Reading>,
}

/// What kernels state that they need, at the published sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// One for each kernel that states it.
    pub rows: Vec<Statement>,
}

/// What one kernel needs for a unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The operation.
    pub operation: String,
    /// The kernel.
    pub kernel: String,
    /// Its needs.
    pub needs: Needs,
}

/// What `cargo bench` estimated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// `default` or `native`.
    pub build: String,
    /// One for each benchmark of an operation, by name.
    pub rows: Vec<Estimate>,
}

/// Criterion's estimate of the time of a run: its median, and the interval that holds it with 95 % confidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// `operation/workload/kernel/size`.
    pub id: String,
    /// Median.
    #[serde(deserialize_with = "positive")]
    pub median_seconds: f64,
    /// Lower end of the interval.
    #[serde(deserialize_with = "positive")]
    pub low_seconds: f64,
    /// Upper end of the interval.
    #[serde(deserialize_with = "positive")]
    pub high_seconds: f64,
}

/// What it costs to build the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// `default` or `native`.
    pub build: String,
    /// Wall time of a build from nothing, dependencies included and already downloaded.
    #[serde(deserialize_with = "positive")]
    pub seconds: f64,
    /// Compiler processes at once.
    pub jobs: usize,
    /// Size of the program.
    pub program_bytes: u64,
    /// The same without symbols, where they could be stripped.
    pub stripped_bytes: Option<u64>,
}

macro_rules! measured {
    ($($content:ident $kind:literal $field:ident)*) => {
        $(impl Measured for $content {
            const KIND: &'static str = $kind;
        })*

        /// All measurements of one folder.
        #[derive(Clone, Debug, Default)]
        pub struct Data {
            /// Duels of kernels.
            pub duels: Vec<Saved<Duel>>,
            $(#[doc = concat!("Those of kind `", $kind, "`.")] pub $field: Vec<Saved<$content>>,)*
        }

        impl Data {
            /// Adds what a file holds, and tells where it was measured.
            fn add(&mut self, path: &Path) -> Result<Environment, SavedError> {
                let (text, kind) = read_kind(path)?;
                fn push<T: Measured>(path: &Path, text: &str, to: &mut Vec<Saved<T>>) -> Result<Environment, SavedError> {
                    let saved = Saved::<T>::parse(path, text)?;
                    let environment = saved.environment.clone();
                    to.push(saved);
                    Ok(environment)
                }
                match kind.as_str() {
                    <Duel as Measured>::KIND => push(path, &text, &mut self.duels),
                    $($kind => push(path, &text, &mut self.$field),)*
                    _ => Err(SavedError::Foreign { path: path.to_owned(), reason: format!("its kind {kind:?} is unknown") }),
                }
            }
        }
    };
}

measured! {
    Setup "setup" setups
    Starts "starts" starts
    GameDuel "game" games
    Far "far" far
    Choices "choices" choices
    Trials "trials" trials
    Ceilings "ceilings" ceilings
    Stated "needs" stated
    Clocks "clocks" clocks
    Estimates "estimates" estimates
    Built "built" built
}

/// A folder that no report can be made from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Nothing was measured.
    #[error("no data in {}: `nimlanes report` measures", .0.display())]
    None(PathBuf),
    /// A file that cannot be used.
    #[error(transparent)]
    File(#[from] SavedError),
    /// Measurements of several machines.
    #[error("{}: {why}", path.display())]
    Mixed {
        /// The file that does not belong to the others.
        path: PathBuf,
        /// Why not.
        why: Mixed,
    },
}

/// The measurements in a folder, by name.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let read = || fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut files = read().map_err(|source| SavedError::Read { path: folder.to_owned(), source })?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

impl Data {
    /// Reads every `.json` file of a folder. All must come from one machine, unless `mixed` allows others.
    ///
    /// # Errors
    /// There is none, one of them is no measurement, or they come from several machines.
    pub fn read(folder: &Path, mixed: bool) -> Result<Self, DataError> {
        let none = || DataError::None(folder.to_owned());
        let files = if folder.is_dir() { files(folder)? } else { Vec::new() };
        let mut data = Data::default();
        let mut first: Option<Environment> = None;
        for path in &files {
            let environment = data.add(path)?;
            let first = first.get_or_insert_with(|| environment.clone());
            if let Some(how) = first.other_machine(&environment).filter(|_| !mixed) {
                return Err(DataError::Mixed { path: path.clone(), why: Mixed::Machine(how) });
            }
        }
        if data.duels.is_empty() { Err(none()) } else { Ok(data) }
    }

    /// The duel over an input, in a build, by a clock.
    pub fn duel(&self, case: &Case, build: &str, clock: &str) -> Option<&Duel> {
        let by = |duel: &Duel| duel.rows.first().is_some_and(|row| row.clock == clock);
        self.duels.iter().map(|saved| &saved.content).find(|duel| duel.case == *case && duel.build == build && by(duel))
    }

    /// Criterion's estimate in a build.
    pub fn estimate(&self, id: &str, build: &str) -> Option<&Estimate> {
        let mut saved = self.estimates.iter().map(|saved| &saved.content).filter(|saved| saved.build == build);
        saved.find_map(|estimates| estimates.rows.iter().find(|row| row.id == id))
    }

    /// Whether some of it was made in a hurry.
    pub fn is_draft(&self) -> bool {
        self.setups.iter().any(|setup| setup.content.draft)
    }

    /// The machine, and the default build if there are measurements of it.
    pub fn environment(&self) -> Option<&Environment> {
        let all = || self.duels.iter().map(|saved| &saved.environment);
        all().find(|environment| environment.build == "default").or(all().next())
    }
}
