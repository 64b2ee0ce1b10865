//! Checkpoints of runs in files.

use std::fmt::Display;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::kernel::Run;

use super::Args;
use crate::files::LockedFile;
use crate::files::pace::Pace;
use crate::terminal::failure::Failure;
use crate::terminal::output;

/// Saves progress to a file, which is locked against other runs.
pub struct CheckpointFile {
    /// The path as given, for messages.
    path: PathBuf,
    /// Cancelled if the file cannot be written.
    run: Arc<Run>,
    state: Mutex<State>,
}

struct State {
    file: LockedFile,
    /// How many heaps the file holds.
    held: u64,
    pace: Pace,
    failure: Option<Failure>,
}

impl CheckpointFile {
    /// Locks the file of `--checkpoint` for a run, if there is one.
    pub fn of(args: &Args, run: &Arc<Run>) -> Result<Option<Arc<Self>>, Failure> {
        let Some(path) = &args.checkpoint else { return Ok(None) };
        let in_use = || format!("{} is in use: another run saves its progress there", path.display());
        let file = output::lock(path, in_use)?;
        let state = Mutex::new(State { file, held: 0, pace: Pace::from_now(), failure: None });
        Ok(Some(Arc::new(CheckpointFile { path: path.clone(), run: Arc::clone(run), state })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The progress in the file, if there is any; `heaps` counts it.
    pub fn load<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, CheckpointError>,
        heaps: impl FnOnce(&T) -> u64,
    ) -> Result<Option<T>, Failure> {
        let State { file, held, .. } = &mut *self.state();
        // A run that was killed before its first checkpoint leaves an empty file.
        if file.is_empty().map_err(|error| self.unusable(&error))? {
            return Ok(None);
        }
        let mut reader = BufReader::with_capacity(1 << 16, file.reader());
        let known = read(&mut reader).map_err(|error| self.unusable(&error))?;
        *held = heaps(&known);
        Ok(Some(known))
    }

    fn unusable(&self, error: &dyn Display) -> Failure {
        Failure::Usage(format!("cannot resume from {}: {error}", self.path.display()))
    }

    /// Removes the file after a complete run.
    pub fn remove(&self) -> Result<(), Failure> {
        let removed = self.state().file.remove();
        removed.map_err(|error| Failure::Failed(format!("cannot remove {}: {error}", self.path.display())))
    }

    /// Writes the progress of so many heaps if it is time to, and cancels the run if that fails.
    pub fn keep(&self, heaps: u64, is_last: bool, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        let State { file, held, pace, failure } = &mut *self.state();
        if failure.is_none() && (is_last || pace.is_due()) {
            match pace.save(|| file.replace(write)) {
                Ok(()) => *held = heaps,
                Err(error) => *failure = Some(output::failure(&error, Some(&self.path))),
            }
        }
        if failure.is_some() {
            self.run.cancel();
        }
    }
}

/// The outcome of a run, unless its progress could not be written. If it was interrupted, the message states how much of it the file
/// holds: the run may have come farther.
pub fn outcome<T>(file: Option<&CheckpointFile>, outcome: Result<T, Failure>) -> Result<T, Failure> {
    let Some(file) = file else { return outcome };
    let State { held: heaps, failure, .. } = &mut *file.state();
    match (failure.take(), outcome) {
        (Some(failure), _) => Err(failure),
        (None, Err(Failure::Interrupted)) if *heaps > 0 => {
            let path = file.path.display();
            Err(Failure::Stopped(format!("interrupted; {path} holds {heaps} heaps, and the same command continues")))
        }
        (None, outcome) => outcome,
    }
}
