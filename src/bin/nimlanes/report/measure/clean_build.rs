//! Clean builds of the program, timed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::files::saved::SavedError;
use crate::measuring::builds::program_in;
use crate::measuring::programs::{ProgramError, output_of};
use crate::report::data::BuildCost;

/// The native build, if there is one: that of [`build`], or another.
pub(super) fn native() -> Option<PathBuf> {
    let folders = ["target/report/native", "target/native"];
    folders.map(|folder| program_in(Path::new(folder))).into_iter().find(|program| program.is_file())
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
    let program = program_in(&target);
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
