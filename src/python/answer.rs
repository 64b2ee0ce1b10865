//! Answers of the library, which Python can wait for, watch and stop.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use nimlanes::games::{SolveError, Solver, Stage};
use nimlanes::kernel::RunError;
use pyo3::prelude::*;

use crate::arguments::Options;
use crate::errors::raised;

/// The time between checks for Python's signals, and between reports of progress.
const TICK: Duration = Duration::from_millis(50);

/// Asks the library on a thread of its own. Meanwhile this thread, which may be the one that takes Python's signals, lets other threads
/// of Python run. A signal handler or `progress` that raises an exception ends the run.
pub fn answer<T: Send>(
    py: Python,
    options: Options,
    ask: impl FnOnce(&Solver) -> Result<T, SolveError> + Send,
) -> PyResult<T> {
    let selection = options.selection()?;
    let run = selection.run();
    // The stage that runs, and the steps that were done before it.
    let current: Mutex<Option<(Stage, u64)>> = Mutex::default();
    let watcher = |stage: &Stage| *current.lock().unwrap_or_else(PoisonError::into_inner) = Some((*stage, run.done()));
    let solver = Solver::new(&selection, &run).watched_by(&watcher);
    let tell = || {
        let current = *current.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(progress), Some((stage, before))) = (&options.progress, current) {
            progress.call1((stage.used.operation, (run.done() - before).min(stage.steps), stage.steps))?;
        }
        Ok(())
    };
    let (end, mut ended) = channel::<Infallible>();
    thread::scope(|scope| {
        let work = || {
            let _dropped_at_the_end = end;
            ask(&solver)
        };
        let worker = Builder::new().spawn_scoped(scope, work).map_err(|_| raised(RunError::NoThread.into()))?;
        let mut watched = Ok(());
        while watched.is_ok() {
            let ended = &mut ended;
            if py.detach(move || ended.recv_timeout(TICK)) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            watched = py.check_signals().and_then(|()| tell());
        }
        if watched.is_err() {
            run.cancel();
        }
        let found = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        watched?;
        let found = found.map_err(raised)?;
        tell().map(|()| found)
    })
}
