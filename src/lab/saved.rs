//! Measurements in files: with date and environment, written whole or not at all, and compared with each other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::lab::duel::Duel;
use crate::lab::environment::Environment;
use crate::lab::files;

/// Names the form of [`Saved`].
pub const SCHEMA: &str = "nimlanes-saved-1";

/// Differences of ratios up to here are ties, whatever their spread.
pub const TIE: f64 = 0.05;

/// What a file can hold.
pub trait Measured: Serialize + DeserializeOwned {
    /// Its name in the file.
    const KIND: &'static str;
}

impl Measured for Duel {
    const KIND: &'static str = "duel";
}

/// A measurement, and where and when it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved<T> {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`Measured::KIND`].
    pub kind: String,
    /// When, in UTC: `2026-01-31T12:00:00Z`.
    pub date: String,
    /// The machine and the build.
    pub environment: Environment,
    /// What was measured.
    pub content: T,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write to {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It holds something else, or only a part.
    #[error("{} is no measurement saved by nimlanes: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a file says of itself.
#[derive(Deserialize)]
struct Form {
    schema: String,
    #[serde(default)]
    kind: String,
}

/// The text of a file that holds some [`Saved`], and the kind of it.
///
/// # Errors
/// It cannot be read, is cut short, or is of another form.
pub fn read_kind(path: &Path) -> Result<(String, String), SavedError> {
    let text = fs::read_to_string(path).map_err(|source| SavedError::Read { path: path.to_owned(), source })?;
    let form: Form = parse(path, &text)?;
    if form.schema != SCHEMA {
        let reason = format!("its form is {:?}, not {SCHEMA:?}", form.schema);
        return Err(SavedError::Foreign { path: path.to_owned(), reason });
    }
    Ok((text, form.kind))
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, SavedError> {
    serde_json::from_str(text).map_err(|error| SavedError::Foreign { path: path.to_owned(), reason: error.to_string() })
}

impl<T: Measured> Saved<T> {
    /// A measurement made now.
    pub fn now(environment: Environment, content: T) -> Self {
        Saved { schema: SCHEMA.to_owned(), kind: T::KIND.to_owned(), date: utc_now(), environment, content }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is cut short, or is of another form.
    pub fn read(path: &Path) -> Result<Self, SavedError> {
        let (text, kind) = read_kind(path)?;
        if kind != T::KIND {
            let reason = format!("it holds {kind:?}, not {:?}", T::KIND);
            return Err(SavedError::Foreign { path: path.to_owned(), reason });
        }
        Self::parse(path, &text)
    }

    /// Reads the text of a file whose kind is known.
    ///
    /// # Errors
    /// It is cut short or of another form.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SavedError> {
        parse(path, text)
    }

    /// Whether times in `environment` can be compared with this measurement.
    ///
    /// # Errors
    /// Another machine or another build.
    pub fn fits(&self, environment: &Environment) -> Result<(), Mixed> {
        environment.other_machine(&self.environment).map_or(Ok(()), |how| Err(Mixed::Machine(how)))?;
        environment.other_build(&self.environment).map_or(Ok(()), |how| Err(Mixed::Build(how)))
    }

    /// Writes a file, with the folders it needs.
    ///
    /// # Errors
    /// It cannot be written; what was there before is unharmed.
    pub fn write(&self, path: &Path) -> Result<(), SavedError> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::from);
        let written = text.and_then(|text| files::save(path, (text + "\n").as_bytes()));
        written.map_err(|source| SavedError::Write { path: path.to_owned(), source })
    }
}

/// Makes the folders of a file and finds out whether it could be written, before the work that is to fill it.
///
/// # Errors
/// It could not.
pub fn try_write(path: &Path) -> Result<(), SavedError> {
    let tried = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| files::check(path));
    tried.map_err(|source| SavedError::Write { path: path.to_owned(), source })
}

/// Now in UTC, as `2026-01-31T12:00:00Z`.
pub fn utc_now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Why two measurements say nothing about each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mixed {
    /// Other inputs or another baseline: ratios mean different things.
    #[error("saved for another duel: {0}")]
    Subject(String),
    /// Other hardware.
    #[error("saved on another machine: {0}; --mixed allows it")]
    Machine(String),
    /// Another build.
    #[error("saved by another build: {0}; --mixed allows it")]
    Build(String),
}

/// What became of one kernel between two duels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The kernel.
    pub kernel: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Its ratio before.
    pub before: Option<f64>,
    /// Its ratio after.
    pub after: Option<f64>,
}

/// See [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Its ratio rose beyond the noise.
    Faster,
    /// Its ratio fell beyond the noise.
    Slower,
    /// Its ratio may be the same: the ranges overlap, or they differ by no more than [`TIE`].
    Same,
    /// It is only in the later duel.
    Added,
    /// It is only in the earlier duel.
    Gone,
}

impl Saved<Duel> {
    /// What changed for each kernel from this duel to a `later` one, in the later one's order.
    ///
    /// A ratio moved if the middle 80 % of the rounds do not overlap *and* the medians differ by more than [`TIE`].
    ///
    /// # Errors
    /// The duels are not of the same thing; or on other machines or builds, unless that is `allowed`.
    pub fn changes(&self, later: &Saved<Duel>, allowed: bool) -> Result<Vec<Change>, Mixed> {
        let (old, new) = (&self.content, &later.content);
        let subject = |duel: &Duel| {
            let Duel { case, baseline, rows, .. } = duel;
            let clock = rows.first().map_or("no", |row| &row.clock);
            format!("{case} against {baseline} by the {clock} clock")
        };
        if subject(old) != subject(new) {
            return Err(Mixed::Subject(format!("{}, not {}", subject(old), subject(new))));
        }
        if !allowed {
            self.fits(&later.environment)?;
        }
        let find = |duel: &Duel, kernel: &str| duel.rows.iter().find(|row| row.kernel == kernel).cloned();
        let change = |kernel: &String| {
            let (before, after) = (find(old, kernel), find(new, kernel));
            let verdict = match (&before, &after) {
                (None, _) => Verdict::Added,
                (_, None) => Verdict::Gone,
                (Some(a), Some(b)) if b.ratio_low > a.ratio_high && b.ratio > a.ratio * (1.0 + TIE) => Verdict::Faster,
                (Some(a), Some(b)) if b.ratio_high < a.ratio_low && b.ratio * (1.0 + TIE) < a.ratio => Verdict::Slower,
                _ => Verdict::Same,
            };
            let [before, after] = [before, after].map(|row| row.map(|row| row.ratio));
            Change { kernel: kernel.clone(), verdict, before, after }
        };
        let gone = old.rows.iter().filter(|row| find(new, &row.kernel).is_none());
        Ok(new.rows.iter().chain(gone).map(|row| change(&row.kernel)).collect())
    }
}
