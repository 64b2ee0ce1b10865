//! Saved measurements: written atomically with date and environment.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nimlanes::lab::clock::utc_now;
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files;

/// The version of the format of [`Saved`].
pub const SCHEMA: &str = "nimlanes-saved-1";

/// Content of a saved file.
pub trait Measured: Serialize + DeserializeOwned {
    /// The name of this kind of content in the file.
    const KIND: &'static str;
}

/// A measurement, with the date and environment it was made in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved<T> {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`Measured::KIND`].
    pub kind: String,
    /// Date and time in UTC: `2026-01-31T12:00:00Z`.
    pub date: String,
    /// The machine and the build.
    pub environment: Environment,
    /// The measurement.
    pub content: T,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// It cannot be read, and why.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Read(PathBuf, #[source] io::Error),
    /// It cannot be written, and why.
    #[error("cannot write to {}: {}", .0.display(), .1)]
    Write(PathBuf, #[source] io::Error),
    /// It holds something else, or is incomplete, and what is wrong with it.
    #[error("{} is not a measurement saved by nimlanes: {}", .0.display(), .1)]
    Invalid(PathBuf, String),
}

/// The fields that identify the content of a file.
#[derive(Deserialize)]
struct Header {
    schema: String,
    #[serde(default)]
    kind: String,
}

/// The text of a file.
///
/// # Errors
/// The file cannot be read.
pub fn read_text(path: &Path) -> Result<String, SavedError> {
    let text = fs::read(path).and_then(text);
    text.map_err(|source| SavedError::Read(path.to_owned(), source))
}

/// The text that bytes are, without the byte-order mark that some editors begin files with.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`]: it is not UTF-8.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];
    let wrong = |reason| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    if UTF_16.iter().any(|mark| bytes.starts_with(mark)) {
        return wrong("it is UTF-16, as some versions of PowerShell write; allowed: UTF-8");
    }
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            if text.starts_with('\u{feff}') {
                text.remove(0);
            }
            Ok(text)
        }
        Err(_) => wrong("it is not text; allowed: UTF-8"),
    }
}

/// Parses the text of a file that must have this format.
///
/// # Errors
/// The text is truncated, or has another format or a newer version of it.
pub fn parse_as<T: DeserializeOwned>(path: &Path, text: &str, schema: &str) -> Result<T, SavedError> {
    check_schema(path, &parse::<Header>(path, text)?.schema, schema)?;
    parse(path, text)
}

fn check_schema(path: &Path, schema: &str, ours: &str) -> Result<(), SavedError> {
    if schema == ours {
        return Ok(());
    }
    let name = ours.trim_end_matches(|c: char| c.is_ascii_digit());
    let version = |schema: &str| schema.strip_prefix(name)?.parse::<u32>().ok();
    let newer = if version(schema) > version(ours) { ": it is of a newer nimlanes" } else { "" };
    let reason = format!("its schema is {schema:?}, not {ours:?}{newer}");
    Err(SavedError::Invalid(path.to_owned(), reason))
}

/// Parses the text of a file.
///
/// # Errors
/// The text is truncated, or something else.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, SavedError> {
    serde_json::from_str(text).map_err(|error| SavedError::Invalid(path.to_owned(), error.to_string()))
}

impl<T: Measured> Saved<T> {
    /// A measurement made now, with the current date.
    pub fn now(environment: Environment, content: T) -> Self {
        Saved { schema: SCHEMA.to_owned(), kind: T::KIND.to_owned(), date: utc_now(), environment, content }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is truncated, or has another format or kind.
    pub fn read(path: &Path) -> Result<Self, SavedError> {
        let text = &read_text(path)?;
        let Header { schema, kind } = parse(path, text)?;
        check_schema(path, &schema, SCHEMA)?;
        if kind != T::KIND {
            let reason = format!("it holds {kind:?}, not {:?}", T::KIND);
            return Err(SavedError::Invalid(path.to_owned(), reason));
        }
        parse(path, text)
    }
}

/// A folder of measurements, a file of each, by name. It need not exist yet.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// The value that is kept under a name.
    ///
    /// # Errors
    /// The file cannot be read, or has another format or kind.
    pub fn known<T: Measured>(&self, name: &str) -> Result<Option<T>, SavedError> {
        let path = self.file(name);
        if path.exists() { Ok(Some(Saved::read(&path)?.content)) } else { Ok(None) }
    }

    /// Checks that something can be kept, before the work to find it is done.
    ///
    /// # Errors
    /// The file or the folder cannot be written.
    pub fn check_writable(&self, name: &str) -> Result<(), SavedError> {
        let path = self.file(name);
        files::check_saved(&path).map_err(|source| SavedError::Write(path, source))
    }

    /// Keeps what was found on a machine, and returns it.
    ///
    /// # Errors
    /// The file cannot be written. An existing one is then unchanged.
    pub fn keep<T: Measured>(&self, name: &str, machine: &Machine, found: T) -> Result<T, SavedError> {
        let saved = Saved::now(Environment::detect(machine), found);
        write_json(&self.file(name), &saved)?;
        Ok(saved.content)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }
}

/// The paths in a folder, sorted; none if it does not exist.
///
/// # Errors
/// The folder cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let read = || fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => {
            let mut entries = entries.map_err(|source| SavedError::Read(folder.to_owned(), source))?;
            entries.sort();
            Ok(entries)
        }
    }
}

/// Writes a file of JSON and creates missing parent folders.
///
/// # Errors
/// The file cannot be written. An existing file is then unchanged.
pub fn write_json(path: &Path, content: &impl Serialize) -> Result<(), SavedError> {
    let text = serde_json::to_string_pretty(content).map_err(io::Error::from);
    let written = text.and_then(|text| files::save(path, (text + "\n").as_bytes()));
    written.map_err(|source| SavedError::Write(path.to_owned(), source))
}

/// Whether a text is a date and time as [`utc_now`](nimlanes::lab::clock::utc_now) writes them.
pub fn is_date(text: &str) -> bool {
    let fits = |(form, c): (char, char)| if form == '0' { c.is_ascii_digit() } else { c == form };
    text.len() == 20 && "0000-00-00T00:00:00Z".chars().zip(text.chars()).all(fits)
}

/// The day of a date and time: `2026-01-31`.
pub fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}
