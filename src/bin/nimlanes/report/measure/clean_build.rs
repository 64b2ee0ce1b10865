//! Clean builds of the program, timed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use nimlanes::kernel::Run;

use super::MeasureError;
use crate::files::saved::SavedError;
use crate::measuring::builds::{FOR_THIS_CPU, NATIVE, cargo_build, check_name, made};
use crate::measuring::programs::{complete, program};
use crate::report::data::BuildCost;

const DEFAULT: &str = "default";

/// Where the build of this name is.
fn target(name: &str) -> PathBuf {
    Path::new("target/report").join(name)
}

/// Makes a build of the program in its own target folder, from the sources in the working directory.
fn make(name: &str, run: &Run) -> Result<PathBuf, MeasureError> {
    let flags = if name == NATIVE { vec![FOR_THIS_CPU.to_owned()] } else { Vec::new() };
    let mut command = cargo_build(&target(name), &flags);
    Ok(made(command.args(["--release", "--locked", "--bin", "nimlanes"]), &format!("the {name} program"), run)?)
}

/// The native build of the sources in the working directory. Cargo has little to do after a clean build.
pub(super) fn native(run: &Run) -> Result<PathBuf, MeasureError> {
    let program = make(NATIVE, run)?;
    check_name(&program, NATIVE, run)?;
    Ok(program)
}

/// Makes a clean build of the program, including dependencies.
pub(super) fn build(native: bool, run: &Run) -> Result<BuildCost, MeasureError> {
    let name = if native { NATIVE } else { DEFAULT };
    let target = target(name);
    if let Err(source) = fs::remove_dir_all(&target)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(SavedError::Write { path: target, source }.into());
    }
    let start = Instant::now();
    let made = make(name, run)?;
    let seconds = start.elapsed().as_secs_f64();
    check_name(&made, name, run)?;
    let bytes = |path: &Path| match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(source) => Err(SavedError::Read { path: path.to_owned(), source }),
    };
    let stripped = target.join("stripped");
    let strip = complete(program("strip").arg("-o").arg(&stripped).arg(&made), "", run);
    let strip = strip.is_ok_and(|completed| completed.status.success());
    Ok(BuildCost {
        build: name.to_owned(),
        seconds,
        jobs: thread::available_parallelism().map_or(1, usize::from),
        program_bytes: bytes(&made)?,
        stripped_bytes: strip.then(|| bytes(&stripped)).transpose()?,
    })
}
