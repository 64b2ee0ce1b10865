//! Child processes: this program, its native build, and the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use serde::de::DeserializeOwned;

use super::data::BuildCost;
use crate::saved::SavedError;

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

/// Possible paths of the native build; the first is where [`build`] puts it.
pub(super) const NATIVE: [&str; 2] = ["target/report/native/release/nimlanes", "target/native/release/nimlanes"];

pub(super) fn this_program() -> Result<PathBuf, ProgramError> {
    Ok(std::env::current_exe().map_err(|source| SavedError::Read { path: "this program".into(), source })?)
}

/// Runs a program and parses its JSON output.
pub(super) fn json_of<T: DeserializeOwned>(command: &mut Command) -> Result<T, ProgramError> {
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
pub(super) fn output_of(command: &mut Command) -> Result<Vec<u8>, ProgramError> {
    let what = words(command);
    let failed = |why: String| ProgramError::Failed { what: what.clone(), why };
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(text.lines().last().map_or(output.status.to_string(), str::to_owned)))
}

/// Makes a clean build of the program in its own target folder, including dependencies.
pub(super) fn build(native: bool) -> Result<BuildCost, ProgramError> {
    let name = if native { "native" } else { "default" };
    let target = Path::new("target/report").join(name);
    if let Err(source) = fs::remove_dir_all(&target)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(SavedError::Write { path: target, source }.into());
    }
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["build", "--release", "--locked", "--bin", "nimlanes", "--target-dir"]).arg(&target);
    if native {
        command.args(["--config", "build.rustflags=['-Ctarget-cpu=native']"]);
    }
    let start = Instant::now();
    output_of(&mut command)?;
    let seconds = start.elapsed().as_secs_f64();
    let program = target.join("release/nimlanes");
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let stripped = target.join("stripped");
    let strip =
        Command::new("strip").arg("-o").arg(&stripped).arg(&program).status().is_ok_and(|status| status.success());
    Ok(BuildCost {
        build: name.to_owned(),
        seconds,
        jobs: thread::available_parallelism().map_or(1, usize::from),
        program_bytes: bytes(&program),
        stripped_bytes: strip.then(|| bytes(&stripped)),
    })
}
