//! Progress of long work on the terminal.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nimlanes::games::{ChosenKernel, Game, Solver, Stage};
use nimlanes::kernel::Run;
use nimlanes::selection::Selection;

/// Work that is done sooner shows nothing.
const QUIET: Duration = Duration::from_secs(2);

/// A progress bar on stderr, if that is a terminal, for work that lasts longer than two seconds. It goes when the value is
/// dropped.
pub struct Monitor {
    end: Option<Sender<()>>,
    /// None where it could not be started: the work is worth more than the bar.
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Watches `run` until it has done `steps` more steps.
    pub fn new(what: String, run: &Arc<Run>, steps: u64) -> Self {
        if !stderr().is_terminal() {
            return Monitor { end: None, thread: None };
        }
        let (end, ended) = channel();
        let run = Arc::clone(run);
        let thread = Builder::new().spawn(move || {
            let start = run.done();
            let goes_on = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !goes_on(QUIET) {
                return;
            }
            let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {elapsed} (about {eta} left)");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what);
            while goes_on(Duration::from_millis(200)) {
                bar.set_position((run.done() - start).min(steps));
            }
            bar.finish_and_clear();
        });
        Monitor { end: Some(end), thread: thread.ok() }
    }
}

/// Lets `ask` ask a game something, with a progress bar for each operation that it takes.
pub fn watched<T>(game: &Game, selection: &Selection, run: &Arc<Run>, ask: impl FnOnce(&Solver) -> T) -> T {
    let monitor = Mutex::new(None);
    let watcher = |stage: &Stage| {
        let ChosenKernel { operation, kernel } = stage.used;
        let shown = Monitor::new(format!("{}: {operation}={kernel}", game.name), run, stage.steps);
        *monitor.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
    };
    ask(&Solver::new(selection, run).watched_by(&watcher))
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // Dropping the sender ends the thread; it is waited for so that it does not draw over what comes next.
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
