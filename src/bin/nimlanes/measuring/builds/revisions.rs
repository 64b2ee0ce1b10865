//! Revisions of the repository, built as this program was built. One is there at a time. For the next one only the files that differ are
//! written, and cargo compiles only these anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nimlanes::kernel::Run;
use nimlanes::lab::environment;

use super::cargo::order;
use super::{Order, source_tree};
use crate::files::LockedFile;
use crate::measuring::programs::{ProgramError, complete, program};
use crate::terminal::failure::Failure;
use crate::terminal::output;

/// Where the revision is, below the root of the source tree: a lock, its files with an index of git, and what cargo builds.
const FOLDER: &str = "target/compare";

impl Order {
    /// A revision of the repository around the working directory, as this program was built. No other one is made while the order, or its
    /// program, lives.
    ///
    /// # Errors
    /// There is no repository or no such revision, another process has one there, or the run was cancelled.
    pub(super) fn revision(revision: &str, run: &Run) -> Result<Self, Failure> {
        let git = Git::around(run)?;
        let commit = git.commit(revision, run)?;
        let folder = git.root.join(FOLDER);
        let lock = Some(lock(&folder)?);
        let files = git.check_out(&commit, &folder, run)?;
        let wanted = environment::Build::of_this();
        let folder = folder.join("build");
        let mut command = order(&wanted, &folder);
        command.current_dir(files).env("BUILT_FROM_REVISION", &commit);
        let name = commit.get(..12).unwrap_or(&commit).to_owned();
        Ok(Order { name, title: revision.to_owned(), folder, command, wanted, commit: Some(commit), lock })
    }
}

/// Makes the folder, and keeps other processes out of it.
fn lock(folder: &Path) -> Result<LockedFile, Failure> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let in_use = || format!("another command has a revision in {}; wait for it", folder.display());
    output::lock(&folder.join("lock"), in_use)
}

fn cannot_write(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot write to {}: {error}", folder.display()))
}

/// The repository of a source tree.
struct Git {
    root: PathBuf,
}

impl Git {
    /// The repository around the working directory.
    fn around(run: &Run) -> Result<Self, Failure> {
        let git = Git { root: source_tree("a revision")? };
        let root = git.root.display();
        let way_up = complete(git.command().args(["rev-parse", "--show-cdup"]), "", run);
        let none = |reason: &str| format!("a revision needs the repository of nimlanes in {root}: {reason}");
        match way_up.map_err(|error| error.because(none))?.trim() {
            "" => Ok(git),
            _ => Err(Failure::Failed(format!("a revision needs a repository of nimlanes; {root} lies in another one"))),
        }
    }

    fn command(&self) -> Command {
        let mut command = program("git");
        // Hooks, and a monitor of files, are for people's worktrees.
        command.arg("-C").arg(&self.root).args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
        command
    }

    /// The full name of a commit.
    fn commit(&self, revision: &str, run: &Run) -> Result<String, Failure> {
        let mut command = self.command();
        command.args(["rev-parse", "--verify", "--end-of-options"]).arg(format!("{revision}^{{commit}}"));
        let none = |reason: &str| {
            let is_shallow = complete(self.command().args(["rev-parse", "--is-shallow-repository"]), "", run);
            let why = match is_shallow {
                Ok(answer) if answer.trim() == "true" => {
                    "it is a shallow clone: `git fetch --unshallow` fetches the rest"
                }
                _ => reason,
            };
            format!("there is no revision `{revision}` in {}: {why}", self.root.display())
        };
        Ok(complete(&mut command, "", run).map_err(|error| error.because(none))?.trim().to_owned())
    }

    /// Has the files of a commit in a folder, and no others. Those that are there already are not touched: they would be compiled anew.
    /// The repository does not know of the folder, as it would of a worktree, and so keeps nothing of an interrupted command.
    fn check_out(&self, commit: &str, folder: &Path, run: &Run) -> Result<PathBuf, Failure> {
        let (files, index) = (folder.join("files"), folder.join("index"));
        fs::create_dir_all(&files).map_err(|error| cannot_write(folder, &error))?;
        let git = |args: &[&str]| {
            let mut command = self.command();
            command.env("GIT_WORK_TREE", &files).env("GIT_INDEX_FILE", &index).args(args);
            complete(&mut command, "", run)
        };
        let read = ["read-tree", "--reset", "-u", "--no-sparse-checkout", commit];
        let mut done = git(&read);
        if matches!(done, Err(ProgramError::Ended(..))) {
            // What was interrupted has left the index locked, or part of it. Without an index, all files are written.
            for left in [index.clone(), index.with_extension("lock")] {
                let _ = fs::remove_file(left);
            }
            done = git(&read);
        }
        let cannot = |reason: &str| format!("cannot check out {commit:.12} in {}: {reason}", files.display());
        done.and_then(|_| git(&["clean", "-ffdxq"])).map_err(|error| error.because(cannot))?;
        Ok(files)
    }
}
