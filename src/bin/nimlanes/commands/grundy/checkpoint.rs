//! Checkpoints of runs in files.

use std::fmt::Display;
use std::fs::TryLockError;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::kernel::Run;

use super::Args;
use crate::files::LockedFile;
use crate::terminal::failure::Failure;
use crate::terminal::output;

/// Saves progress to a file, which is locked against other runs.
pub struct CheckpointFile {
    /// The path as given, for messages.
    path: PathBuf,
    every: Duration,
    /// Cancelled if the file cannot be written.
    run: Arc<Run>,
    state: Mutex<State>,
}

struct State {
    file: LockedFile,
    last: Instant,
    failure: Option<Failure>,
}

impl CheckpointFile {
    /// Locks the file of `--checkpoint` for a run, if there is one.
    pub fn of(args: &Args, run: &Arc<Run>) -> Result<Option<Arc<Self>>, Failure> {
        let Some(path) = &args.checkpoint else { return Ok(None) };
        let file = LockedFile::lock(path).map_err(|error| match error {
            TryLockError::WouldBlock => {
                Failure::Failed(format!("{} is in use: another run saves its progress there", path.display()))
            }
            TryLockError::Error(error) => output::failure(&error, Some(path)),
        })?;
        let state = Mutex::new(State { file, last: Instant::now(), failure: None });
        let every = Duration::from_secs_f64(args.every);
        Ok(Some(Arc::new(CheckpointFile { path: path.clone(), every, run: Arc::clone(run), state })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The progress in the file, if there is any. A file with progress needs `resume`.
    pub fn load<T>(
        &self,
        resume: bool,
        read: impl FnOnce(&mut dyn Read) -> Result<T, CheckpointError>,
    ) -> Result<Option<T>, Failure> {
        let file = &self.state().file;
        // A run that was killed before its first checkpoint leaves an empty file.
        if file.is_empty().map_err(|error| self.unusable(&error))? {
            return Ok(None);
        }
        if !resume {
            return Err(Failure::Usage(format!("{} already exists; --resume continues from it", self.path.display())));
        }
        let mut reader = BufReader::with_capacity(1 << 16, file.reader());
        read(&mut reader).map(Some).map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &dyn Display) -> Failure {
        Failure::Usage(format!("cannot resume from {}: {error}", self.path.display()))
    }

    /// Removes the file after a complete run.
    pub fn remove(&self) -> Result<(), Failure> {
        let removed = self.state().file.remove();
        removed.map_err(|error| Failure::Failed(format!("cannot remove {}: {error}", self.path.display())))
    }

    /// Writes progress if it is time to, and cancels the run if that fails.
    pub fn keep(&self, is_last: bool, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        let State { file, last, failure } = &mut *self.state();
        if failure.is_none() && (is_last || last.elapsed() >= self.every) {
            let kept = file.replace(write);
            *failure = kept.err().map(|error| output::failure(&error, Some(&self.path)));
            *last = Instant::now();
        }
        if failure.is_some() {
            self.run.cancel();
        }
    }

    /// Why the progress could not be written, if it could not.
    fn failure(&self) -> Option<Failure> {
        self.state().failure.take()
    }
}

/// The outcome of a run, unless its progress could not be written. If it was interrupted, the message says how far it came.
pub fn outcome<T>(file: Option<&Arc<CheckpointFile>>, outcome: Result<T, Failure>) -> Result<T, Failure> {
    let Some(file) = file else { return outcome };
    match (file.failure(), outcome) {
        (Some(failure), _) => Err(failure),
        (None, Err(Failure::Interrupted)) if file.state().file.is_empty().is_ok_and(|is_empty| !is_empty) => {
            let (heaps, path) = (file.run.done(), file.path.display());
            Err(Failure::Stopped(format!("interrupted after {heaps} heaps; --resume continues from {path}")))
        }
        (None, outcome) => outcome,
    }
}
