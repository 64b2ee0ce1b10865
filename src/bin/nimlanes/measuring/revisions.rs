//! Revisions of the repository, built as this program was built, and kept. One that is kept is used once it has said which it is.

use std::collections::BTreeMap;
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use nimlanes::kernel::Run;
use nimlanes::lab::environment::Build;
use twox_hash::XxHash3_64;

use super::builds::{announce, check, like_this, made, source_tree};
use super::programs::{ProgramError, complete, output_of, program};
use crate::terminal::failure::Failure;

/// Where revisions are, below the root of the source tree: a lock, a worktree while it is needed, what cargo builds, and a program
/// for each revision that was built lately.
const FOLDER: &str = "target/compare";

/// Programs kept there: those used last.
const KEPT: usize = 8;

/// A revision that was built.
pub struct Revision {
    git: Git,
    /// The folder of all revisions.
    pub folder: PathBuf,
    commit: String,
    pub program: PathBuf,
}

impl Revision {
    /// Builds a revision of the repository around the working directory as this program was built, unless that was done before. The
    /// build ends if `run` is cancelled, and the worktree is removed however it ends.
    ///
    /// # Errors
    /// There is no repository or no such revision, it does not build, or the run was cancelled.
    pub fn build(name: &str, run: &Run) -> Result<Self, Failure> {
        let git = Git::around(run)?;
        let commit = git.commit(name, run)?;
        let folder = git.root.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        let flags = Build::of_this().flags;
        let mut command = like_this(&folder.join("build"), &flags);
        command.env("BUILT_FROM_REVISION", &commit);
        let key = key(&command, run)?;
        let program = folder.join(format!("nimlanes-{commit:.12}-{key:016x}{EXE_SUFFIX}"));
        let revision = Revision { git, folder, commit, program };
        if !revision.program.is_file() || revision.check(&revision.program, run).is_err() {
            revision.make(&mut command, name, run)?;
        }
        revision.prune();
        Ok(revision)
    }

    fn make(&self, command: &mut Command, name: &str, run: &Run) -> Result<(), Failure> {
        let Revision { folder, commit, program, .. } = self;
        let source = self.source(run)?;
        announce(&format!("building {name} ({commit:.12}) in {}", folder.display()));
        let built = made(command.current_dir(&source.path), name, run)?;
        self.check(&built, run)?;
        // The program is complete, or not there.
        let part = folder.join("part");
        let copied = fs::copy(&built, &part).and_then(|_| fs::rename(&part, program));
        copied.map_err(|error| cannot_write(folder, &error))
    }

    /// Checks that a program is this revision.
    fn check(&self, program: &Path, run: &Run) -> Result<(), ProgramError> {
        check(program, run, |identity| {
            let says = identity.revision.as_deref().unwrap_or("none");
            (says != self.commit).then(|| format!("revision {}: it says that it is {says:.12}", self.short()))
        })
    }

    /// Marks the program as used, and removes all but those used last.
    fn prune(&self) {
        let now = SystemTime::now();
        let _ = File::open(&self.program).and_then(|program| program.set_modified(now));
        let mut programs: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("nimlanes-"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        programs.sort();
        for (_, program) in programs.iter().rev().skip(KEPT) {
            let _ = fs::remove_file(program);
        }
    }

    /// The sources, where the debug information of the program says they are, for as long as the result lives.
    ///
    /// # Errors
    /// Another process has the sources of a revision there, git fails, or the run was cancelled.
    pub fn source(&self, run: &Run) -> Result<Worktree<'_>, Failure> {
        Worktree::add(&self.git, &self.folder, &self.commit, run)
    }

    /// The abbreviated name of the commit.
    pub fn short(&self) -> &str {
        self.commit.get(..12).unwrap_or(&self.commit)
    }
}

fn cannot_write(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot write to {}: {error}", folder.display()))
}

/// A digest of what a build is made with: arguments and flags, rustc, and changes of profiles.
fn key(command: &Command, run: &Run) -> Result<u64, ProgramError> {
    let mut rustc = program(env::var_os("RUSTC").unwrap_or("rustc".into()));
    let rustc = output_of(rustc.arg("-vV"), run).or_else(|error| match error {
        ProgramError::Run(_) => Err(error),
        _ => Ok(String::new()), // cargo will say so
    })?;
    let is_profile = |(name, _): &(String, String)| name.starts_with("CARGO_PROFILE_");
    let text = |text: &OsStr| text.to_string_lossy().into_owned();
    let variables = env::vars_os().map(|(name, value)| (text(&name), text(&value)));
    let profiles: BTreeMap<String, String> = variables.filter(is_profile).collect();
    let flags = command.get_envs().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS");
    // Not which cargo it is.
    let arguments: Vec<String> = command.get_args().map(text).skip_while(|word| word != "build").collect();
    Ok(XxHash3_64::oneshot(format!("{arguments:?} {flags:?} {rustc} {profiles:?}").as_bytes()))
}

/// The repository of a source tree.
struct Git {
    root: PathBuf,
}

impl Git {
    /// The repository around the working directory.
    fn around(run: &Run) -> Result<Self, Failure> {
        let git = Git { root: source_tree("--rev")? };
        let root = git.root.display();
        match complete(git.command().args(["rev-parse", "--show-cdup"]), "", run)?.success() {
            Ok(way_up) if way_up.trim().is_empty() => Ok(git),
            Ok(_) => Err(Failure::Failed(format!("--rev needs a repository of nimlanes; {root} lies in another one"))),
            Err(reason) => Err(Failure::Failed(format!("--rev needs the repository of nimlanes in {root}: {reason}"))),
        }
    }

    fn command(&self) -> Command {
        let mut command = program("git");
        // Hooks are for people's worktrees.
        command.arg("-C").arg(&self.root).args(["-c", "core.hooksPath=/dev/null"]);
        command
    }

    /// The full name of a commit.
    fn commit(&self, revision: &str, run: &Run) -> Result<String, Failure> {
        let mut command = self.command();
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{revision}^{{commit}}"));
        let commit = complete(&mut command, "", run)?.success().unwrap_or_default().trim().to_owned();
        if commit.is_empty() {
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
    fn add(git: &'a Git, folder: &Path, commit: &str, run: &Run) -> Result<Self, Failure> {
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
        command.args(["worktree", "add", "--quiet", "--detach"]).arg(&worktree.path).arg(commit);
        let added = complete(&mut command, "", run)?.success();
        added.map(|_| worktree).map_err(|reason| Failure::Failed(format!("git worktree: {reason}")))
    }

    fn remove(&self) {
        // Not one that signals cancel: they are why this is done.
        let run = Run::new(1);
        let _ = complete(self.git.command().args(["worktree", "remove", "--force"]).arg(&self.path), "", &run);
        let _ = fs::remove_dir_all(&self.path);
        let _ = complete(self.git.command().args(["worktree", "prune"]), "", &run);
    }
}

impl Drop for Worktree<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
