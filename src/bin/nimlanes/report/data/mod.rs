//! The data of a report: all measurements of a machine on a day, in one file of a folder.

mod checks;
pub mod machines;
pub mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::{Path, PathBuf};

use nimlanes::kernel::Needs;
use nimlanes::kernel::case::Case;
use nimlanes::lab::ceilings::Reading;
use nimlanes::lab::environment::Environment;
use nimlanes::lab::numbers::positive;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::to_raw_value;

use self::sources::Sources;
use crate::files::saved::{SavedError, parse_as, read_text};
use crate::measuring::duel::{Duel, Row};
use crate::terminal::failure::Failure;
use nimlanes::lab::clock::utc_now;

/// The file of all measurements in a folder.
pub const FILE: &str = "measurements.json";

/// The version of its format.
const SCHEMA: &str = "nimlanes-measurements-3";

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

/// Whether a text names a machine: lower-case letters, digits and single hyphens between them. It becomes part of file names.
pub fn is_name(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.split('-').all(is_part)
}

/// The needs of one kernel per unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelNeeds {
    /// The operation.
    pub operation: String,
    /// The kernel.
    pub kernel: String,
    /// Its needs.
    pub needs: Needs,
}

/// Takes the rows of observed kernels out of a duel. Returns a duel of these; kernels that were skipped stay.
fn split_observed(duel: &mut Duel) -> Duel {
    let (exact, observed) = mem::take(&mut duel.rows).into_iter().partition(Row::is_exact);
    duel.rows = exact;
    Duel { rows: observed, skipped: Vec::new(), ..duel.clone() }
}

/// All measurements of one folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Data {
    /// [`SCHEMA`].
    schema: String,
    /// Date and time of the first duel and of the last, in UTC.
    pub dates: [String; 2],
    /// The machine, and the build that measured.
    pub environment: Environment,
    /// A name that was given to the machine by hand, where the CPU names another: a hypervisor may hide its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// A draft: fewer sizes and rounds.
    pub draft: bool,
    /// The source that was measured; none if that is not known.
    pub sources: Option<Sources>,
    /// Duels of kernels; once they are read, of exact kernels.
    #[serde(serialize_with = "lines")]
    pub duels: Vec<Duel>,
    /// Duels of sets of kernels: the operation is a game, and the rows are `baseline`, `best_plain` and `best`.
    #[serde(serialize_with = "lines")]
    pub games: Vec<Duel>,
    #[serde(serialize_with = "lines")]
    pub far: Vec<FarSolution>,
    /// The ceilings of this machine.
    #[serde(serialize_with = "lines")]
    pub ceilings: Vec<Reading>,
    /// The needs that kernels state, at the published sizes.
    #[serde(serialize_with = "lines")]
    pub needs: Vec<KernelNeeds>,
    /// The names of the tasks that are done.
    pub done: BTreeSet<String>,
    /// The folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The same duels of observed kernels, which are never called the best.
    #[serde(skip)]
    pub observed: Vec<Duel>,
}

/// A line for each of a list.
fn lines<T: Serialize, S: Serializer>(list: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter().map(|item| to_raw_value(item).expect("keys are strings")))
}

impl Data {
    /// Nothing is measured yet.
    pub fn new(environment: Environment) -> Self {
        Data {
            schema: SCHEMA.to_owned(),
            dates: [utc_now(), utc_now()],
            environment,
            given_name: None,
            draft: false,
            sources: None,
            duels: Vec::new(),
            games: Vec::new(),
            far: Vec::new(),
            ceilings: Vec::new(),
            needs: Vec::new(),
            done: BTreeSet::new(),
            folder: PathBuf::new(),
            observed: Vec::new(),
        }
    }

    /// Reads a file as it was written, and checks it.
    ///
    /// # Errors
    /// It cannot be read, has another format, or holds what no machine measures.
    pub fn of_file(path: &Path) -> Result<Self, SavedError> {
        let data: Data = parse_as(path, &read_text(path)?, SCHEMA)?;
        let name = data.given_name.as_ref().filter(|name| !is_name(name));
        let fault = name
            .map(|name| format!("{name:?} is no name of a machine"))
            .or_else(|| data.dates.iter().find_map(|date| checks::fault_of_origin(date, &data.environment)))
            .or_else(|| data.duels.iter().chain(&data.games).find_map(checks::fault));
        fault.map_or(Ok(data), |reason| Err(SavedError::Invalid(path.to_owned(), reason)))
    }

    /// Reads the measurements in a folder.
    ///
    /// # Errors
    /// There is no duel, or the file cannot be used.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let none = || Err(Failure::Usage(format!("no data in {}: `nimlanes report` measures", folder.display())));
        let path = folder.join(FILE);
        if !path.is_file() {
            return none();
        }
        let mut data = Data { folder: folder.to_owned(), ..Self::of_file(&path)? };
        data.observed = data.duels.iter_mut().map(split_observed).collect();
        if data.duels.is_empty() { none() } else { Ok(data) }
    }

    /// The duel for an input, build and clock.
    pub fn duel(&self, case: &Case, build: &str, clock: &str) -> Option<&Duel> {
        let by = |duel: &Duel| duel.rows.first().is_some_and(|row| row.clock == clock);
        self.duels.iter().find(|duel| duel.case == *case && duel.build == build && by(duel))
    }

    /// The name of the machine that was measured: the one given by hand, else its microarchitecture.
    pub fn name(&self) -> &str {
        self.given_name.as_deref().unwrap_or(&self.environment.microarchitecture)
    }

    /// Date and time of the last duel, in UTC.
    pub fn date(&self) -> &str {
        &self.dates[1]
    }

    /// The revision of the source that was measured, if it is known.
    pub fn revision(&self) -> Option<&str> {
        self.sources.as_ref()?.revision.as_deref()
    }
}
