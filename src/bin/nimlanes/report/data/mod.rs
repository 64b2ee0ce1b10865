//! The data of a report: all measurements in one folder.

mod checks;
pub mod machines;
pub mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nimlanes::kernel::Needs;
use nimlanes::kernel::case::Case;
use nimlanes::lab::ceilings::Reading;
use nimlanes::lab::environment::Environment;
use nimlanes::lab::numbers::{positive, positive_or_zero};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use self::sources::Sources;
use crate::files::folder::{self, Measurement};
use crate::files::saved::{Measured, Saved, SavedError, kind_of, parse};
use crate::measuring::duel::{Duel, Row};

/// How the measurements of a folder were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// A draft: fewer sizes and rounds.
    pub draft: bool,
    /// Kernels predicted to take longer for a run were skipped.
    #[serde(rename = "patience_seconds", deserialize_with = "positive_or_zero")]
    pub time_limit_seconds: f64,
    /// Total time of the measurements.
    #[serde(deserialize_with = "positive_or_zero")]
    pub took_seconds: f64,
}

/// A game solved with different sets of kernels, in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameDuel {
    /// The game.
    pub game: String,
    /// Its limit.
    pub limit: u64,
    /// `thread` or `wall`.
    pub clock: String,
    /// The sets of kernels, the baselines first.
    pub rows: Vec<GameRow>,
}

/// A game solved once, far beyond its published limit, in its own process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FarSolution {
    /// The game.
    pub game: String,
    /// Its limit.
    pub limit: u64,
    /// The answer, as decimal digits.
    pub answer: String,
    /// The selected kernel of each operation.
    pub kernels: BTreeMap<String, String>,
    /// Wall-clock time, with all threads allowed.
    #[serde(deserialize_with = "positive")]
    pub seconds: f64,
    /// Peak resident bytes of the process; 0 if the system does not report it.
    pub peak_bytes: u64,
}

/// The times of one set of kernels for a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRow {
    /// `baseline`, `best_plain` or `best`.
    #[serde(rename = "cast")]
    pub kernel_set: String,
    /// `operation=kernel`, in the order of the game's operations.
    pub kernels: Vec<String>,
    /// Number of rounds.
    pub rounds: usize,
    /// Median time to solve the game.
    #[serde(deserialize_with = "positive")]
    pub median_seconds: f64,
    /// The first set's time divided by this one's, median over the rounds.
    #[serde(deserialize_with = "positive")]
    pub ratio: f64,
    /// 10th percentile of the ratio over the rounds.
    #[serde(deserialize_with = "positive")]
    pub ratio_low: f64,
    /// 90th percentile of the ratio over the rounds.
    #[serde(deserialize_with = "positive")]
    pub ratio_high: f64,
}

/// A name that was given to the machine by hand, where the CPU says something else: a hypervisor may hide its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenName {
    /// See [`is_name`].
    pub name: String,
}

/// The file of a [`GivenName`].
pub const NAME_FILE: &str = "name.json";

impl GivenName {
    /// Records the name of the machine of a folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(name: &str, environment: Environment, folder: &Path) -> Result<(), SavedError> {
        Saved::now(environment, GivenName { name: name.to_owned() }).write(&folder.join(NAME_FILE))
    }
}

/// Whether a text names a machine: lower-case letters, digits and single hyphens between them. It becomes part of file names.
pub fn is_name(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.split('-').all(is_part)
}

/// Selected kernels against others, at sizes without a duel of all kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    /// One row for each input.
    pub rows: Vec<Trial>,
}

/// The selected kernel against those predicted to be not much slower, on one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The input.
    #[serde(flatten)]
    pub case: Case,
    /// The selected kernel.
    pub selected: String,
    /// The fastest kernel.
    pub quickest: String,
    /// Number of kernels that took part.
    pub kernels: usize,
    /// The selected kernel's time divided by the fastest one's, median over the rounds.
    #[serde(deserialize_with = "positive")]
    pub loss: f64,
    /// 10th percentile of the loss over the rounds.
    #[serde(deserialize_with = "positive")]
    pub loss_low: f64,
    /// 90th percentile of the loss over the rounds.
    #[serde(deserialize_with = "positive")]
    pub loss_high: f64,
    /// The median time of each kernel that took part; older measurements do not have it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seconds: BTreeMap<String, f64>,
}

impl Trial {
    /// The kernels that took part and their times, in one unit.
    pub fn times(&self) -> Vec<(&str, f64)> {
        match self.seconds.is_empty() {
            true => vec![(&self.quickest, 1.0), (&self.selected, self.loss)],
            false => self.seconds.iter().map(|(kernel, seconds)| (kernel.as_str(), *seconds)).collect(),
        }
    }
}

/// The ceilings of this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// One row for each ceiling.
    pub rows: Vec<Reading>,
}

/// The needs that kernels state, at the published sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllNeeds {
    /// One row for each kernel that states its needs.
    pub rows: Vec<KernelNeeds>,
}

/// What one kernel needs per unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelNeeds {
    /// The operation.
    pub operation: String,
    /// The kernel.
    pub kernel: String,
    /// Its needs.
    pub needs: Needs,
}

/// The row of an observed kernel in a duel.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The input.
    pub case: Case,
    /// The build.
    pub build: String,
    /// The kernel's times.
    pub row: Row,
}

impl Observed {
    /// Takes the rows of observed kernels out of a duel.
    fn split_from(duel: &mut Duel) -> Vec<Observed> {
        let (exact, observed) = std::mem::take(&mut duel.rows).into_iter().partition(Row::is_exact);
        duel.rows = exact;
        let of = |row: Row| Observed { case: duel.case.clone(), build: duel.build.clone(), row };
        Vec::into_iter(observed).map(of).collect()
    }
}

/// A measurement that may be in several files. Ratios refer to its baseline.
trait Repeated {
    /// Whether both are of the same input, build and clock.
    fn repeats(&self, other: &Self) -> bool;

    /// Median time of the baseline.
    fn baseline_seconds(&self) -> f64;
}

impl Repeated for Duel {
    fn repeats(&self, other: &Self) -> bool {
        let clock = |duel: &Duel| duel.rows.first().map(|row| row.clock.clone());
        self.case == other.case && self.build == other.build && clock(self) == clock(other)
    }

    fn baseline_seconds(&self) -> f64 {
        let baseline = self.rows.iter().find(|row| row.kernel == self.baseline);
        baseline.map_or(f64::INFINITY, |row| row.median_seconds)
    }
}

impl Repeated for GameDuel {
    fn repeats(&self, other: &Self) -> bool {
        (&self.game, self.limit) == (&other.game, other.limit)
    }

    fn baseline_seconds(&self) -> f64 {
        self.rows.first().map_or(f64::INFINITY, |row| row.median_seconds)
    }
}

/// Keeps of each repeated measurement the one with the fastest baseline: nothing makes a kernel faster for a moment, and a ratio
/// must not rest on a baseline that was slowed. Returns how many are left out.
fn keep_quietest<T: Repeated>(all: &mut Vec<Saved<T>>) -> usize {
    let before = all.len();
    let mut kept: Vec<Saved<T>> = Vec::new();
    for saved in all.drain(..) {
        match kept.iter_mut().find(|kept| kept.content.repeats(&saved.content)) {
            Some(kept) if kept.content.baseline_seconds() <= saved.content.baseline_seconds() => {}
            Some(kept) => *kept = saved,
            None => kept.push(saved),
        }
    }
    *all = kept;
    before - all.len()
}

/// Kinds that earlier folders have, and that nothing is made of any more.
const RETIRED: [&str; 6] = ["built", "choices", "clocks", "counted", "estimates", "starts"];

macro_rules! measured {
    ($($content:ident $kind:literal $field:ident)*) => {
        $(impl Measured for $content {
            const KIND: &'static str = $kind;
        })*

        /// All measurements of one folder.
        #[derive(Clone, Debug, Default)]
        pub struct Data {
            /// The folder.
            pub folder: PathBuf,
            /// Duels of exact kernels.
            pub duels: Vec<Saved<Duel>>,
            /// The rows of observed kernels in those duels, which are never called the best.
            pub observed: Vec<Observed>,
            /// Number of measurements that were made twice and left out, because their baselines were slower.
            pub left_out: usize,
            $(#[doc = concat!("Measurements of kind `", $kind, "`.")] pub $field: Vec<Saved<$content>>,)*
        }

        impl Data {
            /// Adds a measurement, and returns the environment it was made in.
            fn add(&mut self, Measurement { path, text }: &Measurement) -> Result<Environment, SavedError> {
                fn push<T: Measured>(path: &Path, text: &str, to: &mut Vec<Saved<T>>) -> Result<Environment, SavedError> {
                    let saved: Saved<T> = parse(path, text)?;
                    let environment = saved.environment.clone();
                    sound(path, checks::fault_of_origin(&saved.date, &environment))?;
                    to.push(saved);
                    Ok(environment)
                }
                match kind_of(path, text)?.as_str() {
                    <Duel as Measured>::KIND => {
                        let environment = push(path, text, &mut self.duels)?;
                        if let Some(Saved { content: duel, .. }) = self.duels.last() {
                            sound(path, checks::fault(duel))?;
                        }
                        Ok(environment)
                    }
                    $($kind => push(path, text, &mut self.$field),)*
                    kind if RETIRED.contains(&kind) => {
                        let Saved { date, environment, .. } = parse::<Saved<IgnoredAny>>(path, text)?;
                        sound(path, checks::fault_of_origin(&date, &environment))?;
                        Ok(environment)
                    }
                    kind => Err(SavedError::Invalid { path: path.to_owned(), reason: format!("its kind {kind:?} is unknown") }),
                }
            }
        }
    };
}

measured! {
    GivenName "name" names
    Setup "setup" setups
    Sources "sources" sources
    GameDuel "game" games
    FarSolution "far" far
    Trials "trials" trials
    Ceilings "ceilings" ceilings
    AllNeeds "needs" needs
}

/// Why no report can be made from a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// There are no measurements.
    #[error("no data in {}: `nimlanes report` measures", .0.display())]
    None(PathBuf),
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] SavedError),
    /// The measurements come from several machines.
    #[error("{}: saved on another machine: {how}; --mixed allows it", path.display())]
    Machine {
        /// The file that does not match the others.
        path: PathBuf,
        /// The difference between the machines.
        how: String,
    },
}

/// An error if there is a fault.
fn sound(path: &Path, fault: Option<String>) -> Result<(), SavedError> {
    fault.map_or(Ok(()), |reason| Err(SavedError::Invalid { path: path.to_owned(), reason }))
}

impl Data {
    /// Reads the measurements in a folder. All must come from one machine, unless `mixed` is true.
    ///
    /// # Errors
    /// There is no duel, a file is not a measurement, or the measurements come from several machines.
    pub fn read(folder: &Path, mixed: bool) -> Result<Self, DataError> {
        let mut data = Data { folder: folder.to_owned(), ..Data::default() };
        let mut first: Option<Environment> = None;
        for measurement in folder::read(folder)?.into_values() {
            let environment = data.add(&measurement)?;
            let first = first.get_or_insert_with(|| environment.clone());
            if let Some(how) = first.other_machine(&environment).filter(|_| !mixed) {
                return Err(DataError::Machine { path: measurement.path, how });
            }
        }
        for saved in &data.names {
            let name = &saved.content.name;
            sound(&folder.join(NAME_FILE), (!is_name(name)).then(|| format!("{name:?} is no name of a machine")))?;
        }
        data.left_out = keep_quietest(&mut data.duels) + keep_quietest(&mut data.games);
        data.observed = data.duels.iter_mut().flat_map(|saved| Observed::split_from(&mut saved.content)).collect();
        if data.duels.is_empty() { Err(DataError::None(folder.to_owned())) } else { Ok(data) }
    }

    /// The duel for an input, build and clock.
    pub fn duel(&self, case: &Case, build: &str, clock: &str) -> Option<&Duel> {
        let by = |duel: &Duel| duel.rows.first().is_some_and(|row| row.clock == clock);
        self.duels.iter().map(|saved| &saved.content).find(|duel| duel.case == *case && duel.build == build && by(duel))
    }

    /// Whether some of the measurements are drafts.
    pub fn is_draft(&self) -> bool {
        self.setups.iter().any(|setup| setup.content.draft)
    }

    /// The environment of the measurements; of the default build, if it was measured.
    pub fn environment(&self) -> Option<&Environment> {
        let all = || self.duels.iter().map(|saved| &saved.environment);
        all().find(|environment| environment.build.name == "default").or(all().next())
    }

    /// The name of the machine that was measured: the one given by hand, else its microarchitecture.
    pub fn name(&self) -> &str {
        self.given_name().unwrap_or_else(|| self.environment().map_or("", |environment| &environment.microarchitecture))
    }

    /// The name that was given by hand.
    pub fn given_name(&self) -> Option<&str> {
        self.names.last().map(|saved| saved.content.name.as_str())
    }

    /// Date and time of the last duel, in UTC.
    pub fn date(&self) -> &str {
        self.duels.iter().map(|saved| saved.date.as_str()).max().unwrap_or("")
    }

    /// The source that was measured; none if the measurements do not say.
    pub fn source(&self) -> Option<&Sources> {
        self.sources.first().map(|saved| &saved.content)
    }
}

#[cfg(test)]
mod tests {
    use nimlanes::machine::Machine;

    use super::*;

    #[test]
    fn of_a_game_measured_twice_the_faster_baseline_counts() {
        let game = |game: &str, seconds: [f64; 2]| {
            let row = |median_seconds| GameRow {
                kernel_set: "baseline".to_owned(),
                kernels: Vec::new(),
                rounds: 3,
                median_seconds,
                ratio: 1.0,
                ratio_low: 1.0,
                ratio_high: 1.0,
            };
            let rows = seconds.map(row).to_vec();
            let duel = GameDuel { game: game.to_owned(), limit: 7, clock: "wall".to_owned(), rows };
            Saved::now(Environment::detect(&Machine::detect()), duel)
        };
        let mut games =
            vec![game("a", [3.5, 1.0]), game("b", [1.0, 1.0]), game("a", [2.5, 1.1]), game("a", [2.6, 0.9])];
        assert_eq!(keep_quietest(&mut games), 2);
        let kept: Vec<_> =
            games.iter().map(|saved| (&*saved.content.game, saved.content.rows[0].median_seconds)).collect();
        assert_eq!(kept, [("a", 2.5), ("b", 1.0)]);
    }
}
