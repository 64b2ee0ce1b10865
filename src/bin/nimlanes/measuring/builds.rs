//! Other builds, made from the source tree: the native one, and for each tier of WebAssembly the module of the page.
//!
//! A build is all that could change its machine code: sources, profile, flags, features, compilers, linker, and what variables and
//! configuration files set of these. Cargo has the list of them, and compiles anew what has changed, in a folder that no other build
//! shares: see [`cargo_build`]. The program then states its own profile, flags and compilers, which must be those wanted: see [`built`].

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nimlanes::kernel::Run;
use nimlanes::lab::environment::{BUILD, Build};
use nimlanes::machine::isa::Tier;
use serde::Deserialize;

use crate::measuring::duel::protocol::Identity;
use crate::measuring::duel::{DuelError, identity};
use crate::measuring::programs::{ProgramError, complete, output_of, program};
use crate::terminal::failure::{Failure, say};

/// The name of a build with [`FOR_THIS_CPU`].
pub const NATIVE: &str = "native";

/// The flag of rustc that makes the native build.
pub const FOR_THIS_CPU: &str = "-Ctarget-cpu=native";

/// Where the native build is, below the root of the source tree: the folder of `cargo run-native`.
const NATIVE_FOLDER: &str = "target/native";

/// Where the module of the page is built, below the root of the source tree.
const MODULE_FOLDER: &str = "target/page";

/// Its target, which has the standard library and files.
const WASI: &str = "wasm32-wasip1";

/// Builds the sources around the working directory for this CPU, as `cargo run-native` does, with the other flags of this program.
/// Returns the program. The build ends if `run` is cancelled.
///
/// # Errors
/// This is the native build, there is no source tree, it does not build, or the run was cancelled.
pub fn native(run: &Run) -> Result<PathBuf, Failure> {
    if BUILD.starts_with(NATIVE) {
        return Err(Failure::Usage("--build native is for the default build; this is the native one".to_owned()));
    }
    let root = source_tree("--build native")?;
    let target = root.join(NATIVE_FOLDER);
    announce(&format!("building for this CPU in {}", target.display()));
    let mut wanted = Build::of_this();
    wanted.flags.push(FOR_THIS_CPU.to_owned());
    let mut command = order(&wanted, &target);
    // As the alias does, or cargo would compile all again for whichever of the two comes next.
    command.current_dir(root).args(["--config", "env.BUILD_AS='native'"]);
    Ok(built(&mut command, &wanted, "the native program", run)?.0)
}

/// Checks that a program is the build of this name, or that with more or fewer features of the CPU.
///
/// # Errors
/// It is another, it cannot duel, or the run was cancelled.
pub fn check_name(program: &Path, name: &str, run: &Run) -> Result<(), ProgramError> {
    let build = identity_of(program, run)?.build.name;
    if build.starts_with(name) {
        return Ok(());
    }
    let program = program.display();
    Err(ProgramError::Failed(format!("{program} is not the {name} build: it says that it is the {build} one")))
}

/// Asks a program who it is.
fn identity_of(program: &Path, run: &Run) -> Result<Identity, ProgramError> {
    identity(program, run).map_err(|error| match error {
        DuelError::Run(cancelled) => cancelled.into(),
        error => ProgramError::Failed(error.to_string()),
    })
}

/// Announces slow work, on a terminal alone.
pub fn announce(line: &str) {
    if stderr().is_terminal() {
        say(line);
    }
}

/// The root of the source tree around the working directory, which `option` needs.
pub(super) fn source_tree(option: &str) -> Result<PathBuf, Failure> {
    let here = env::current_dir().map_err(|error| Failure::Failed(format!("no working directory: {error}")))?;
    let is_root = |folder: &&Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.lines().any(|line| line == "name = \"nimlanes-lab\""))
    };
    let root = here.ancestors().find(is_root).map(Path::to_owned);
    let none = || Failure::Failed(format!("{option} needs the source tree of nimlanes around the working directory"));
    root.ok_or_else(none)
}

/// Builds the module of the page for each tier of WebAssembly, from the sources in the working directory. The inner error says
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
    let package = ["--package", "nimlanes-web"];
    let modules = for_each_wasm_tier(Path::new("."), "web", &package, MODULE_FOLDER, "the module of the page", run)?;
    let bytes = |(tier, module): (Tier, PathBuf)| match fs::read(&module) {
        Ok(bytes) => Ok((tier.name(), bytes)),
        Err(error) => Err(Failure::Failed(format!("cannot read {}: {error}", module.display()))),
    };
    modules.into_iter().map(bytes).collect::<Result<_, Failure>>().map(Ok)
}

/// The modules by tier, or why there are none.
pub type Modules = Result<BTreeMap<&'static str, Vec<u8>>, String>;

/// Whether the standard library for a target is installed.
fn is_installed(target: &str, run: &Run) -> bool {
    let path = output_of(program("rustc").args(["--print", "target-libdir", "--target", target]), run);
    path.is_ok_and(|path| Path::new(path.trim_end()).is_dir())
}

/// `cargo build` into a folder, in this profile and with exactly these flags of rustc. What a build takes from variables and configuration
/// files is decided here:
///
/// - No flags. [`CARGO_ENCODED_RUSTFLAGS`](https://doc.rust-lang.org/cargo/reference/config.html#buildrustflags) comes before
///   all others.
/// - No folder for [artefacts](https://doc.rust-lang.org/cargo/reference/build-cache.html), final or intermediate. Another tree may share
///   it, and cargo would take the artefacts of one for those of the other.
/// - No target of a variable, and not what the build of this program was asked to be: `BUILD_AS`.
/// - All else: which cargo, compilers and linker, and what changes the profile. Cargo compiles anew when any of that changes.
pub fn cargo_build(target: &Path, profile: &str, flags: &[String]) -> Command {
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

/// `cargo build` of the program into a folder, as `wanted` says: in its profile and with its flags. With the features of this program.
pub(super) fn order(wanted: &Build, target: &Path) -> Command {
    let mut command = cargo_build(target, &wanted.profile, &wanted.flags);
    command.args(["--bin", "nimlanes"]);
    let beyond_default = cfg!(any(feature = "std_simd", feature = "pulp", feature = "c"));
    if beyond_default || !cfg!(feature = "default") {
        let features = [vec!["cli".to_owned()], Build::of_this().features].concat();
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    command
}

/// Runs an [`order`], and returns the program with what it says it is. `what` is what errors call it.
///
/// # Errors
/// It does not build, it was made in another way than `wanted` says, or the run was cancelled.
pub(super) fn built(
    command: &mut Command,
    wanted: &Build,
    what: &str,
    run: &Run,
) -> Result<(PathBuf, Identity), ProgramError> {
    let program = made(command, what, run)?;
    let identity = identity_of(&program, run)?;
    // Names and CPU features follow from flags and compiler.
    let mut like_it = wanted.clone();
    like_it.name.clone_from(&identity.build.name);
    like_it.target_features.clone_from(&identity.build.target_features);
    match like_it.other(&identity.build) {
        Some(how) => Err(ProgramError::Failed(format!("{what} is not the build that was asked for: it has {how}"))),
        None => Ok((program, identity)),
    }
}

/// Builds `package` from the sources in `root`, in this profile, for each tier of WebAssembly, at the same time, because most of a build
/// is the work of one thread. Returns what is made in the target folders, which are in `folder`. `what` is what errors call it.
fn for_each_wasm_tier(
    root: &Path,
    profile: &str,
    package: &[&str],
    folder: &str,
    what: &str,
    run: &Run,
) -> Result<Vec<(Tier, PathBuf)>, Failure> {
    let build = |tier: Tier| {
        let features = tier.extension().map_or(&[][..], |extension| extension.cpu_features);
        let flags: Vec<String> = features.iter().map(|feature| format!("-Ctarget-feature=+{feature}")).collect();
        let mut command = cargo_build(&Path::new(folder).join(tier.name()), profile, &flags);
        Ok((tier, made(command.current_dir(root).args(package).args(["--target", WASI]), what, run)?))
    };
    let is_wasm = |tier: &&Tier| tier.extension().is_none_or(|extension| extension.architecture == "wasm32");
    thread::scope(|scope| {
        let builds = Tier::ALL.iter().filter(is_wasm).map(|tier| scope.spawn(|| build(*tier)));
        builds.collect::<Vec<_>>().into_iter().map(|build| build.join().expect("no panic")).collect()
    })
}

/// What cargo says it made.
#[derive(Deserialize)]
struct Made {
    executable: Option<PathBuf>,
}

/// Runs a [`cargo_build`] of one program, and returns where that is. `what` is what errors call it.
///
/// # Errors
/// It does not build, or the run was cancelled.
pub fn made(command: &mut Command, what: &str, run: &Run) -> Result<PathBuf, ProgramError> {
    let unbuilt = |why| ProgramError::Failed(format!("{what} does not build: {why}"));
    let messages = complete(command, "", run)?.map_err(unbuilt)?;
    let made = messages.lines().filter_map(|line| serde_json::from_str::<Made>(line).ok());
    let program = made.filter_map(|made| made.executable).next_back();
    program.ok_or_else(|| unbuilt("cargo names no program that it made".to_owned()))
}
