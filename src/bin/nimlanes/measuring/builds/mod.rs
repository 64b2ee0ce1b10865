//! Builds of this program: [`Build`] names one, and [`programs`] finds or makes its program.
//!
//! A build is all that could change its machine code: sources, profile, flags, features, compilers, linker, and what variables and
//! configuration files set of these. Cargo has the list of them, and compiles anew what has changed, in a folder that no other build
//! shares: see [`cargo`]. The program then states its own profile, flags and compilers, which must be those wanted: see
//! [`Order::program`].

pub mod cargo;
pub mod child;
pub mod protocol;
mod revisions;

use std::env;
use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use nimlanes::kernel::Run;
use nimlanes::lab::duel::DuelError;
use nimlanes::lab::environment::{self, BUILD};

use self::cargo::{made, order};
use super::programs::{ProgramError, complete, program, this_program};
use crate::files::LockedFile;
use crate::terminal::failure::{Failure, say};

/// The flag of rustc that makes the native build, and the name of that build.
const NATIVE: (&str, &str) = ("-Ctarget-cpu=native", "native");

/// Where the native build is, below the root of the source tree: the folder of `cargo run-native`.
const NATIVE_FOLDER: &str = "target/native";

/// Where the builds by other compilers are, below the root of the source tree: a target folder for each toolchain.
const TOOLCHAIN_FOLDER: &str = "target/toolchains";

/// A build of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Build {
    /// The program that runs.
    This,
    /// The source tree around the working directory, compiled for this CPU.
    Native,
    /// A revision of the repository around the working directory, by any name that git has for it.
    Revision(String),
    /// The source tree around the working directory, by the compilers of a toolchain of rustup.
    Toolchain(String),
    /// A program that is there.
    Path(PathBuf),
}

impl FromStr for Build {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("rev", "")) => Err("allowed after rev: is a revision, such as HEAD~1".to_owned()),
            Some(("rev", name)) => Ok(Build::Revision(name.to_owned())),
            Some(("toolchain", name)) => Ok(Build::Toolchain(toolchain_name(name)?)),
            _ => match text {
                "" => Err("allowed: this, native, rev:REVISION, toolchain:NAME, or the path of a program".to_owned()),
                "this" => Ok(Build::This),
                "native" => Ok(Build::Native),
                path => Ok(Build::Path(path.into())),
            },
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Build::This => f.write_str("this"),
            Build::Native => f.write_str(NATIVE.1),
            Build::Revision(name) => write!(f, "rev:{name}"),
            Build::Toolchain(name) => write!(f, "toolchain:{name}"),
            Build::Path(path) => path.display().fmt(f),
        }
    }
}

/// A name that rustup may know. It also names a folder.
fn toolchain_name(text: &str) -> Result<String, String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._+".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err("allowed: names of toolchains, such as 1.89, stable or nightly-2026-10-30".to_owned()),
    }
}

/// The program of a build.
#[derive(Debug)]
pub struct Program {
    /// `itself`, `native`, the abbreviated commit, the toolchain, or the path.
    pub name: String,
    pub path: PathBuf,
    /// Keeps other processes out of the folder of a revision.
    _lock: Option<LockedFile>,
}

/// Finds the programs of builds, and makes those that are to be made. All ends if `run` is cancelled.
///
/// # Errors
/// There is no source tree, revision or toolchain, one does not build, or the run was cancelled.
pub fn programs(builds: &[Build], run: &Run) -> Result<Vec<Program>, Failure> {
    if builds.iter().filter(|build| matches!(build, Build::Revision(_))).count() > 1 {
        return Err(Failure::Usage("two revisions have one folder, target/compare; allowed: one revision".to_owned()));
    }
    // All are found before the first is made, which takes minutes.
    let found = builds.iter().map(|build| build.find(run)).collect::<Result<Vec<_>, _>>()?;
    let program = |found| match found {
        Supply::Found(program) => Ok(program),
        Supply::Ordered(order) => Ok(order.program(run)?),
    };
    found.into_iter().map(program).collect()
}

/// How a program is had.
enum Supply {
    Found(Program),
    Ordered(Box<Order>),
}

impl Build {
    fn find(&self, run: &Run) -> Result<Supply, Failure> {
        let found = |name, path| Ok(Supply::Found(Program { name, path, _lock: None }));
        match self {
            Build::This => found("itself".to_owned(), this_program()?),
            Build::Path(path) => {
                // An engine that runs a module has no short word for one that is missing.
                let file = match path.metadata() {
                    Ok(file) if file.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
                    file => file,
                };
                file.map_err(|error| Failure::Usage(format!("cannot start {}: {error}", path.display())))?;
                found(path.display().to_string(), path.clone())
            }
            Build::Native if BUILD.starts_with(NATIVE.1) => {
                Err(Failure::Usage("native is for the default build; this is the native one".to_owned()))
            }
            Build::Native => Ok(Supply::Ordered(Order::native(&source_tree("the native build")?).into())),
            Build::Revision(name) => Ok(Supply::Ordered(Order::revision(name, run)?.into())),
            Build::Toolchain(name) => Ok(Supply::Ordered(Order::toolchain(name, run)?.into())),
        }
    }
}

/// A program to be made.
pub struct Order {
    /// The name of the program.
    name: String,
    /// How errors name it.
    title: String,
    folder: PathBuf,
    command: Command,
    /// How it is to be compiled.
    wanted: environment::Build,
    /// The revision that it is to be made from, if any.
    commit: Option<String>,
    lock: Option<LockedFile>,
}

impl Order {
    /// The sources in `root` for this CPU, as `cargo run-native` builds them, with the other flags of this program.
    pub fn native(root: &Path) -> Self {
        let folder = root.join(NATIVE_FOLDER);
        let mut wanted = environment::Build::of_this();
        if !wanted.flags.iter().any(|flag| flag == NATIVE.0) {
            wanted.flags.push(NATIVE.0.to_owned());
        }
        let mut command = order(&wanted, &folder);
        // As the alias does, or cargo would compile all again for whichever of the two comes next.
        command.current_dir(root).args(["--config", "env.BUILD_AS='native'"]);
        let (name, title) = (NATIVE.1.to_owned(), "the native program".to_owned());
        Order { name, title, folder, command, wanted, commit: None, lock: None }
    }

    /// The sources around the working directory by the compiler of a toolchain, otherwise as this program was built.
    fn toolchain(name: &str, run: &Run) -> Result<Self, Failure> {
        let root = source_tree("a toolchain")?;
        let found = complete(program("rustup").args(["which", "--toolchain", name, "rustc"]), "", run);
        let missing = |why: &str| {
            let command = format!("rustup toolchain install {name} --profile minimal");
            format!("there is no rustc of {name}; `{command}` installs it: {why}")
        };
        let rustc = PathBuf::from(found.map_err(|error| error.because(missing))?.trim_end());
        let mut wanted = environment::Build::of_this();
        wanted.rustc = complete(program(&rustc).arg("--version"), "", run)?.trim_end().to_owned();
        let folder = root.join(TOOLCHAIN_FOLDER).join(name);
        let mut command = order(&wanted, &folder);
        command.current_dir(root).env("RUSTC", rustc);
        let (name, title) = (name.to_owned(), format!("the program by {name}"));
        Ok(Order { name, title, folder, command, wanted, commit: None, lock: None })
    }

    /// Makes the program. It states what it is.
    ///
    /// # Errors
    /// It does not build, it is another build than that wanted, or the run was cancelled.
    pub fn program(mut self, run: &Run) -> Result<Program, ProgramError> {
        announce(&format!("building {} in {}", self.title, self.folder.display()));
        let path = made(&mut self.command, &self.title, run)?;
        let name = path.display().to_string();
        let child = child::start(&path, &name, 0, run).map_err(|error| match error {
            DuelError::Run(cancelled) => cancelled.into(),
            error => ProgramError::Failed(error.to_string()),
        })?;
        let identity = &child.identity;
        // Names and CPU features follow from flags and compiler.
        let mut like_it = self.wanted;
        like_it.name.clone_from(&identity.build.name);
        like_it.target_features.clone_from(&identity.build.target_features);
        if let Some(how) = like_it.other(&identity.build) {
            let title = self.title;
            return Err(ProgramError::Failed(format!("{title} is another build than the requested one: it has {how}")));
        }
        let says = identity.revision.as_deref().unwrap_or("none");
        if let Some(commit) = self.commit.filter(|commit| commit != says) {
            let other = format!("{name} is not revision {commit:.12}: it prints {says:.12}");
            return Err(ProgramError::Failed(other));
        }
        Ok(Program { name: self.name, path, _lock: self.lock })
    }
}

/// Announces slow work, on a terminal alone.
pub fn announce(line: &str) {
    if stderr().is_terminal() {
        say(line);
    }
}

/// The root of the source tree around the working directory, which a build needs.
fn source_tree(build: &str) -> Result<PathBuf, Failure> {
    let here = env::current_dir().map_err(|error| Failure::Failed(format!("no working directory: {error}")))?;
    let is_root = |folder: &&Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.lines().any(|line| line == "name = \"nimlanes-lab\""))
    };
    let root = here.ancestors().find(is_root).map(Path::to_owned);
    let none = || Failure::Failed(format!("{build} needs the source tree of nimlanes around the working directory"));
    root.ok_or_else(none)
}
