//! Other builds, made from the repository: another revision of the program, its native build, and for each tier of WebAssembly
//! the program and the module of the page.

use std::collections::BTreeMap;
use std::env::consts::EXE_SUFFIX;
use std::fs::{self, File, TryLockError};
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use nimlanes::kernel::Run;
use nimlanes::lab::environment::BUILD;
use nimlanes::machine::isa::Tier;

use crate::measuring::programs::output_of;
use crate::measuring::subprocess::{Stopped, complete};
use crate::terminal::failure::{Failure, say};

/// The value of [`BUILD`] with `target-cpu=native`.
pub const NATIVE: &str = "native";

/// Where revisions are, below the root of the repository: a lock, a worktree while it is needed, what cargo builds, and a program
/// for each revision that was built.
const FOLDER: &str = "target/compare";

/// Where the native build is, below the root of the repository: the folder of `cargo run-native`.
const NATIVE_FOLDER: &str = "target/native";

/// Where the builds for WebAssembly are, below the root of the repository.
const WASI_FOLDER: &str = "target/wasi";

/// Where the module of the page is built, below the root of the source tree.
const MODULE_FOLDER: &str = "target/page";

/// The target of both, which has the standard library and files.
const WASI: &str = "wasm32-wasip1";

/// The program that a release build makes in a target folder.
pub fn program_in(target: &Path) -> PathBuf {
    target.join("release").join(format!("nimlanes{EXE_SUFFIX}"))
}

/// Builds the sources around the working directory for WebAssembly, without vectors and with them. Returns the programs. The
/// builds end if `run` is cancelled.
///
/// # Errors
/// There is no repository, it does not build, or the run was cancelled.
pub fn wasi(run: &Run) -> Result<Vec<PathBuf>, Failure> {
    let root = root("--webassembly")?;
    announce(&format!("building for WebAssembly in {}", root.join(WASI_FOLDER).display()));
    let (package, made) = (["--release", "--bin", "nimlanes"], "release/nimlanes.wasm");
    let programs = for_each_wasm_tier(&root, &package, WASI_FOLDER, made, "the program for WebAssembly", run)?;
    Ok(programs.into_iter().map(|(_, program)| program).collect())
}

/// Builds the sources around the working directory for this CPU, as `cargo run-native` does. Returns the program. The build ends if
/// `run` is cancelled.
///
/// # Errors
/// This is the native build, there is no repository, it does not build, or the run was cancelled.
pub fn native(run: &Run) -> Result<PathBuf, Failure> {
    if BUILD == NATIVE {
        return Err(Failure::Usage("--build native is for the default build; this is the native one".to_owned()));
    }
    let root = root("--build native")?;
    let target = root.join(NATIVE_FOLDER);
    announce(&format!("building for this CPU in {}", target.display()));
    cargo(&root, &target, NATIVE, None, "the native program", run)
}

/// A revision that was built.
pub struct Revision {
    git: Git,
    /// The folder of all revisions.
    folder: PathBuf,
    commit: String,
    pub program: PathBuf,
}

impl Revision {
    /// Builds a revision of the repository around the working directory, unless that was done before. The build ends if `run` is
    /// cancelled, and the worktree is removed however it ends.
    ///
    /// # Errors
    /// There is no repository or no such revision, it does not build, or the run was cancelled.
    pub fn build(name: &str, run: &Run) -> Result<Self, Failure> {
        let git = Git { root: root("--rev")? };
        let commit = git.commit(name)?;
        let folder = git.root.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        let program = folder.join(format!("nimlanes-{BUILD}-{commit}{EXE_SUFFIX}"));
        let revision = Revision { git, folder, commit, program };
        if !revision.program.is_file() {
            revision.make(name, run)?;
        }
        Ok(revision)
    }

    fn make(&self, name: &str, run: &Run) -> Result<(), Failure> {
        let Revision { folder, commit, program, .. } = self;
        let source = self.source()?;
        announce(&format!("building {name} ({commit:.12}) in {}", folder.display()));
        let built = cargo(&source.path, &folder.join("build"), BUILD, Some(commit), name, run)?;
        // The program is complete, or not there.
        let part = folder.join("part");
        let copied = fs::copy(&built, &part).and_then(|_| fs::rename(&part, program));
        copied.map_err(|error| cannot_write(folder, &error))
    }

    /// The sources, where the debug information of the program says they are, for as long as the result lives.
    ///
    /// # Errors
    /// Another process has the sources of a revision there, or git fails.
    pub fn source(&self) -> Result<Worktree<'_>, Failure> {
        Worktree::add(&self.git, &self.folder, &self.commit)
    }

    /// The abbreviated name of the commit.
    pub fn short(&self) -> &str {
        self.commit.get(..12).unwrap_or(&self.commit)
    }
}

fn cannot_write(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot write to {}: {error}", folder.display()))
}

/// Announces slow work, on a terminal alone.
pub fn announce(line: &str) {
    if stderr().is_terminal() {
        say(line);
    }
}

/// The root of the repository around the working directory, which `option` needs.
fn root(option: &str) -> Result<PathBuf, Failure> {
    let output = Command::new("git").args(["rev-parse", "--show-toplevel"]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::Failed(format!("cannot start git: {error}")))?;
    let path = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if !output.status.success() || path.is_empty() {
        return Err(Failure::Failed(format!("{option} needs the repository of nimlanes around the working directory")));
    }
    Ok(path.into())
}

/// A repository.
struct Git {
    root: PathBuf,
}

impl Git {
    fn command(&self) -> Command {
        let mut command = Command::new("git");
        // Hooks are for people's worktrees.
        command.arg("-C").arg(&self.root).args(["-c", "core.hooksPath=/dev/null"]).stdin(Stdio::null());
        command
    }

    /// The full name of a commit.
    fn commit(&self, revision: &str) -> Result<String, Failure> {
        let mut command = self.command();
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{revision}^{{commit}}"));
        let output = command.output().map_err(|error| Failure::Failed(format!("cannot start git: {error}")))?;
        let commit = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        if !output.status.success() || commit.is_empty() {
            let root = self.root.display();
            return Err(Failure::Failed(format!("there is no revision `{revision}` in {root}; see git log")));
        }
        Ok(commit)
    }
}

/// A worktree that is removed on drop. There is one at a time.
pub struct Worktree<'a> {
    git: &'a Git,
    path: PathBuf,
    _lock: File,
}

impl<'a> Worktree<'a> {
    fn add(git: &'a Git, folder: &Path, commit: &str) -> Result<Self, Failure> {
        let lock = File::create(folder.join("lock")).map_err(|error| cannot_write(folder, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let folder = folder.display();
                return Err(Failure::Failed(format!("another command with --rev works in {folder}; wait for it")));
            }
            Err(TryLockError::Error(error)) => return Err(cannot_write(folder, &error)),
        }
        let worktree = Worktree { git, path: folder.join("source"), _lock: lock };
        // A killed process may have left one.
        worktree.remove();
        let mut command = git.command();
        let output = command.args(["worktree", "add", "--quiet", "--detach"]).arg(&worktree.path).arg(commit).output();
        match output {
            Ok(output) if output.status.success() => Ok(worktree),
            Ok(output) => Err(Failure::Failed(format!("git worktree: {}", last_line(&output.stderr)))),
            Err(error) => Err(Failure::Failed(format!("cannot start git: {error}"))),
        }
    }

    fn remove(&self) {
        let _ = self.git.command().args(["worktree", "remove", "--force"]).arg(&self.path).output();
        let _ = fs::remove_dir_all(&self.path);
        let _ = self.git.command().args(["worktree", "prune"]).output();
    }
}

impl Drop for Worktree<'_> {
    fn drop(&mut self) {
        self.remove();
    }
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
    if !is_installed(WASI) {
        return Ok(Err(format!(
            "the target of its module was not installed when it was made; `rustup target add {WASI}` does that"
        )));
    }
    announce(&format!("building the module of the page in {MODULE_FOLDER}"));
    let (package, made) = (["--profile", "web", "--package", "nimlanes-web"], "web/nimlanes-web.wasm");
    let modules = for_each_wasm_tier(Path::new("."), &package, MODULE_FOLDER, made, "the module of the page", run)?;
    let bytes = |(tier, module): (Tier, PathBuf)| match fs::read(&module) {
        Ok(bytes) => Ok((tier.name(), bytes)),
        Err(error) => Err(Failure::Failed(format!("cannot read {}: {error}", module.display()))),
    };
    modules.into_iter().map(bytes).collect::<Result<_, Failure>>().map(Ok)
}

/// The modules by tier, or why there are none.
pub type Modules = Result<BTreeMap<&'static str, Vec<u8>>, String>;

/// Whether the standard library for a target is installed.
fn is_installed(target: &str) -> bool {
    let mut command = Command::new("rustc");
    command.args(["--print", "target-libdir", "--target", target]);
    output_of(&mut command).is_ok_and(|path| Path::new(String::from_utf8_lossy(&path).trim_end()).is_dir())
}

/// `cargo build` into a target folder.
fn cargo_build(target: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.env_remove("CARGO_TARGET_DIR").args(["build", "--target-dir"]).arg(target);
    command
}

/// Builds `package` from the sources in `root` for each tier of WebAssembly, at the same time, because most of a build is the work of
/// one thread. Returns what was `made` below the target folders, which are in `folder`. `what` is what errors call it.
fn for_each_wasm_tier(
    root: &Path,
    package: &[&str],
    folder: &str,
    made: &str,
    what: &str,
    run: &Run,
) -> Result<Vec<(Tier, PathBuf)>, Failure> {
    let build = |tier: Tier| {
        let target = Path::new(folder).join(tier.name());
        let made = root.join(&target).join(WASI).join(made);
        complete_build(for_webassembly(tier, &target).current_dir(root).args(package), &made, what, run)?;
        Ok((tier, made))
    };
    let is_wasm = |tier: &&Tier| tier.extension().is_none_or(|extension| extension.architecture == "wasm32");
    thread::scope(|scope| {
        let builds = Tier::ALL.iter().filter(is_wasm).map(|tier| scope.spawn(|| build(*tier)));
        builds.collect::<Vec<_>>().into_iter().map(|build| build.join().expect("no panic")).collect()
    })
}

/// `cargo build` for WebAssembly, with what a tier adds to it.
fn for_webassembly(tier: Tier, target: &Path) -> Command {
    let features = tier.extension().map_or(&[][..], |extension| extension.cpu_features);
    let flags: Vec<String> = features.iter().map(|feature| format!("-Ctarget-feature=+{feature}")).collect();
    let mut command = cargo_build(target);
    // Flags of the environment are meant for other builds.
    command.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("RUSTFLAGS");
    command.env("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", flags.join(" ")).args(["--target", WASI]);
    command
}

/// Builds the program from the sources in a folder, as the default or the native `build`, and returns its path. `what` is what errors
/// call it.
fn cargo(
    source: &Path,
    target: &Path,
    build: &str,
    commit: Option<&str>,
    what: &str,
    run: &Run,
) -> Result<PathBuf, Failure> {
    let mut command = cargo_build(target);
    command.current_dir(source).args(["--release", "--bin", "nimlanes"]);
    command.envs(commit.map(|commit| ("BUILT_FROM_REVISION", commit)));
    if build == NATIVE {
        command.args(["--config", "build.rustflags=['-Ctarget-cpu=native']"]);
    }
    let program = program_in(target);
    complete_build(&mut command, &program, what, run).map(|()| program)
}

/// Runs a command of cargo that makes a file.
fn complete_build(command: &mut Command, made: &Path, what: &str, run: &Run) -> Result<(), Failure> {
    let (status, text) = match complete(command, run) {
        Ok(completed) => completed,
        Err(Stopped::Run(cancelled)) => return Err(cancelled.into()),
        Err(Stopped::Io(error)) => return Err(Failure::Failed(format!("cannot start cargo: {error}"))),
    };
    if status.success() && made.is_file() {
        return Ok(());
    }
    let error =
        text.lines().find(|line| line.starts_with("error")).map_or_else(|| last_line(text.as_bytes()), str::to_owned);
    Err(Failure::Failed(format!("{what} does not build: {error}")))
}

/// The last line of a program's errors.
fn last_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).trim_end().lines().last().unwrap_or("no reason given").to_owned()
}
