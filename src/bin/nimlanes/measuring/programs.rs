//! Child processes.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

use crate::files::saved::SavedError;

/// Why a child process was of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The program failed.
    #[error("{what} failed: {why}")]
    Failed {
        /// Its command line.
        what: String,
        /// Its last line on stderr.
        why: String,
    },
    /// A file of the program cannot be read or written.
    #[error(transparent)]
    File(#[from] SavedError),
}

/// The path of this program.
pub fn this_program() -> Result<PathBuf, ProgramError> {
    Ok(std::env::current_exe().map_err(|source| SavedError::Read { path: "this program".into(), source })?)
}

/// Runs a program and parses its JSON output.
pub fn json_of<T: DeserializeOwned>(command: &mut Command) -> Result<T, ProgramError> {
    let output = output_of(command)?;
    let unreadable = |error: serde_json::Error| ProgramError::Failed { what: words(command), why: error.to_string() };
    serde_json::from_slice(&output).map_err(unreadable)
}

/// The command line as text.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a program and returns its output.
pub fn output_of(command: &mut Command) -> Result<Vec<u8>, ProgramError> {
    let what = words(command);
    let failed = |why: String| ProgramError::Failed { what: what.clone(), why };
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(text.lines().last().map_or(output.status.to_string(), str::to_owned)))
}
