//! Cargo: the program of a build, and the module of the page for each tier of WebAssembly.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nimlanes::kernel::Run;
use nimlanes::lab::environment;
use nimlanes::machine::isa::Tier;
use serde::Deserialize;

use super::announce;
use crate::measuring::programs::{ProgramError, complete, program};
use crate::terminal::failure::Failure;

/// Where the module of the page is built, below the root of the source tree.
const MODULE_FOLDER: &str = "target/page";

/// Its target, which has the standard library and files.
const WASI: &str = "wasm32-wasip1";

/// Builds the module of the page for each tier of WebAssembly, from the sources in the working directory. The inner error states
/// why there is none: this is no source tree, or the target is not installed.
///
/// # Errors
/// It does not build, or the run was cancelled.
pub fn modules(run: &Run) -> Result<Modules, Failure> {
    if !Path::new("Cargo.toml").is_file() || !Path::new("src/web").is_dir() {
        return Ok(Err("it was not made in the source tree of nimlanes".to_owned()));
    }
    if !is_installed(WASI, run) {
        return Ok(Err(format!(
            "the target of its module was not installed when it was made; `rustup target add {WASI}` does that"
        )));
    }
    announce(&format!("building the module of the page in {MODULE_FOLDER}"));
    let is_wasm = |tier: &&Tier| tier.extension().is_none_or(|extension| extension.architecture == "wasm32");
    // At the same time, because most of a build is the work of one thread.
    thread::scope(|scope| {
        let builds = Tier::ALL.iter().filter(is_wasm).map(|tier| scope.spawn(|| module(*tier, run)));
        let builds: Vec<_> = builds.collect();
        builds.into_iter().map(|build| build.join().expect("no panic")).collect::<Result<_, Failure>>().map(Ok)
    })
}

/// Builds the module of the page for a tier, and reads it.
fn module(tier: Tier, run: &Run) -> Result<(&'static str, Vec<u8>), Failure> {
    let features = tier.extension().map_or(&[][..], |extension| extension.cpu_features);
    let flags: Vec<String> = features.iter().map(|feature| format!("-Ctarget-feature=+{feature}")).collect();
    let mut command = cargo_build(&Path::new(MODULE_FOLDER).join(tier.name()), "web", &flags);
    command.args(["--package", "nimlanes-web", "--target", WASI]);
    let module = made(&mut command, "the module of the page", run)?;
    match fs::read(&module) {
        Ok(bytes) => Ok((tier.name(), bytes)),
        Err(error) => Err(Failure::Failed(format!("cannot read {}: {error}", module.display()))),
    }
}

/// The modules by tier, or why there are none.
pub type Modules = Result<BTreeMap<&'static str, Vec<u8>>, String>;

/// Whether the standard library for a target is installed.
fn is_installed(target: &str, run: &Run) -> bool {
    let path = complete(program("rustc").args(["--print", "target-libdir", "--target", target]), "", run);
    path.is_ok_and(|path| Path::new(path.trim_end()).is_dir())
}

/// `cargo build` into a folder, in this profile and with exactly these flags of rustc. Settings from variables and configuration
/// files is decided here:
///
/// - No flags. [`CARGO_ENCODED_RUSTFLAGS`](https://doc.rust-lang.org/cargo/reference/config.html#buildrustflags) comes before
///   all others.
/// - No folder for [artefacts](https://doc.rust-lang.org/cargo/reference/build-cache.html), final or intermediate. Another tree may share
///   it, and cargo would take the artefacts of one for those of the other.
/// - No target of a variable, and not what the build of this program was asked to be: `BUILD_AS`.
/// - All else: which cargo, compilers and linker, and what changes the profile. Cargo compiles anew when any of that changes.
fn cargo_build(target: &Path, profile: &str, flags: &[String]) -> Command {
    let mut command = program(env::var_os("CARGO").unwrap_or("cargo".into()));
    for variable in ["CARGO_BUILD_TARGET", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "BUILD_AS"] {
        command.env_remove(variable);
    }
    command.env("CARGO_BUILD_BUILD_DIR", target);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let profile = if profile == "debug" { "dev" } else { profile };
    command
        .args(["build", "--quiet", "--profile", profile, "--message-format=json-render-diagnostics", "--target-dir"])
        .arg(target);
    command
}

/// `cargo build` of the program into a folder, in the profile and with the flags of `wanted`. With the features of this program.
pub(super) fn order(wanted: &environment::Build, target: &Path) -> Command {
    let mut command = cargo_build(target, &wanted.profile, &wanted.flags);
    command.args(["--bin", "nimlanes"]);
    let beyond_default = cfg!(any(feature = "std_simd", feature = "pulp", feature = "c"));
    if beyond_default || !cfg!(feature = "default") {
        let features = [vec!["cli".to_owned()], environment::Build::of_this().features].concat();
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    command
}

/// The files that cargo made, by its messages.
#[derive(Deserialize)]
struct Made {
    executable: Option<PathBuf>,
}

/// Runs a [`cargo_build`] of one program, and returns where that is. `what` is what errors call it.
///
/// # Errors
/// It does not build, or the run was cancelled.
pub(super) fn made(command: &mut Command, what: &str, run: &Run) -> Result<PathBuf, ProgramError> {
    let unbuilt = |why: &str| format!("{what} does not build: {why}");
    let messages = complete(command, "", run).map_err(|error| error.because(unbuilt))?;
    let made = messages.lines().filter_map(|line| serde_json::from_str::<Made>(line).ok());
    let program = made.filter_map(|made| made.executable).next_back();
    program.ok_or_else(|| ProgramError::Failed(unbuilt("cargo names no program that it made")))
}
