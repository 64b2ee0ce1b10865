//! Progress bars for long work.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nimlanes::games::{ChosenKernel, Game, Solver, Stage};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;

/// Work that ends sooner shows no progress bar.
const SHOW_AFTER: Duration = Duration::from_secs(2);

/// A progress bar on stderr, if that is a terminal, for work that lasts longer than two seconds. It is removed on drop.
pub struct Monitor {
    end: Option<Sender<()>>,
    /// `None` if stderr is no terminal, or the thread could not be started; the work continues without a bar.
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Shows the progress of `run` over its next `steps` steps.
    pub fn new(what: String, run: &Arc<Run>, steps: u64) -> Self {
        let (run, start) = (Arc::clone(run), run.done());
        Monitor::show(what, steps, move || run.done() - start)
    }

    /// Shows how much of `time` has passed.
    pub fn of_time(what: String, time: Duration) -> Self {
        let start = Instant::now();
        Monitor::show(what, time.as_millis() as u64, move || start.elapsed().as_millis() as u64)
    }

    /// Shows a share from 0 to 1, and returns what is told of it.
    pub fn of_share(what: String) -> (Self, impl FnMut(f64)) {
        const ALL: f64 = 1000.0;
        let told = Arc::new(AtomicU64::new(0));
        let shown = Arc::clone(&told);
        let monitor = Monitor::show(what, ALL as u64, move || shown.load(Relaxed));
        (monitor, move |share| told.store((share * ALL) as u64, Relaxed))
    }

    fn show(what: String, all: u64, done: impl Fn() -> u64 + Send + 'static) -> Self {
        if !stderr().is_terminal() {
            return Monitor { end: None, thread: None };
        }
        let (end, ended) = channel();
        let thread = Builder::new().spawn(move || {
            let continues = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !continues(SHOW_AFTER) {
                return;
            }
            let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {elapsed} (about {eta} left)");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what);
            while continues(Duration::from_millis(200)) {
                bar.set_position(done().min(all));
            }
            bar.finish_and_clear();
        });
        Monitor { end: Some(end), thread: thread.ok() }
    }
}

/// Calls `solve` with a solver that shows a progress bar for each operation of the game.
pub fn with_progress<T>(game: &Game, selection: &Selection, run: &Arc<Run>, solve: impl FnOnce(&Solver) -> T) -> T {
    let monitor = Mutex::new(None);
    let watcher = |stage: &Stage| {
        let ChosenKernel { operation, kernel, .. } = stage.used;
        let shown = Monitor::new(format!("{}: {operation}={kernel}", game.name), run, stage.steps);
        *monitor.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
    };
    solve(&Solver::new(selection, run).watched_by(&watcher))
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // Dropping the sender ends the thread. Wait for it, so that it does not draw over later output.
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
