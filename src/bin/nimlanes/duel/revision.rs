//! Another revision of this program, built from its repository.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nimlanes::kernel::Run;
use nimlanes::lab::environment::BUILD;

use crate::failure::Failure;
use crate::subprocess::{Stopped, complete};

/// Where it all is, below the root of the repository: a lock, a worktree while it is needed, what cargo builds, and a program for
/// each revision that was built.
const FOLDER: &str = "target/compare";

/// Builds `revision` of the repository around the working directory, unless that was done before. Returns the program. The build
/// ends if `run` is cancelled, and the worktree is removed however it ends.
///
/// # Errors
/// There is no repository or no such revision, it does not build, or the run was cancelled.
pub fn build(revision: &str, run: &Run, announce: &mut dyn FnMut(&str)) -> Result<PathBuf, Failure> {
    let git = Git { root: root()? };
    let commit = git.commit(revision)?;
    let folder = git.root.join(FOLDER);
    let cannot = |error: std::io::Error| Failure::Failed(format!("cannot write to {}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(cannot)?;
    let program = folder.join(format!("nimlanes-{BUILD}-{commit}"));
    if program.is_file() {
        return Ok(program);
    }
    let lock = File::create(folder.join("lock")).map_err(cannot)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Failure::Failed(format!(
                "another `compare --rev` builds in {}; wait for it",
                folder.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(cannot(error)),
    }
    announce(&format!("building {revision} ({:.12}) in {}", commit, folder.display()));
    let worktree = Worktree::add(&git, folder.join("source"), &commit)?;
    let built = cargo(&worktree.path, &folder.join("build"), &commit, revision, run)?;
    // Complete or not there.
    let part = folder.join("part");
    fs::copy(&built, &part).and_then(|_| fs::rename(&part, &program)).map_err(cannot)?;
    Ok(program)
}

/// The root of the repository around the working directory.
fn root() -> Result<PathBuf, Failure> {
    let output = Command::new("git").args(["rev-parse", "--show-toplevel"]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::Failed(format!("cannot start git: {error}")))?;
    let path = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if !output.status.success() || path.is_empty() {
        return Err(Failure::Failed("--rev needs the repository of nimlanes around the working directory".to_owned()));
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

/// A worktree that is removed on drop.
struct Worktree<'a> {
    git: &'a Git,
    path: PathBuf,
}

impl<'a> Worktree<'a> {
    fn add(git: &'a Git, path: PathBuf, commit: &str) -> Result<Self, Failure> {
        let worktree = Worktree { git, path };
        // One that a killed process left.
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

/// Builds the program from the sources in a folder, as this one was built, and returns its path.
fn cargo(source: &Path, target: &Path, commit: &str, revision: &str, run: &Run) -> Result<PathBuf, Failure> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.current_dir(source).env("BUILT_FROM_REVISION", commit).env_remove("CARGO_TARGET_DIR");
    command.args(["build", "--release", "--bin", "nimlanes", "--target-dir"]).arg(target);
    if BUILD == "native" {
        command.args(["--config", "build.rustflags=['-Ctarget-cpu=native']"]);
    }
    let (status, text) = match complete(&mut command, run) {
        Ok(completed) => completed,
        Err(Stopped::Run(cancelled)) => return Err(cancelled.into()),
        Err(Stopped::Io(error)) => return Err(Failure::Failed(format!("cannot start cargo: {error}"))),
    };
    let program = target.join("release/nimlanes");
    if status.success() && program.is_file() {
        return Ok(program);
    }
    let error =
        text.lines().find(|line| line.starts_with("error")).map_or_else(|| last_line(text.as_bytes()), str::to_owned);
    Err(Failure::Failed(format!("{revision} does not build: {error}")))
}

/// The last line of a program's errors.
fn last_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).trim_end().lines().last().unwrap_or("no reason given").to_owned()
}
