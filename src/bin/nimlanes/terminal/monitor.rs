//! Progress bars for long work.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use nimlanes::games::{ChosenKernel, Game, Solver, Stage};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::units::span;

/// Work that ends sooner shows no progress.
const SHOW_AFTER: Duration = Duration::from_secs(2);

/// How often a line of progress changes.
const REDRAW: Duration = Duration::from_millis(200);

/// A line of progress on stderr, if that is a terminal, for work that lasts longer than two seconds. It is removed on drop.
pub struct Monitor {
    end: Option<Sender<()>>,
    /// `None` if stderr is no terminal, or the thread could not be started; the work continues without a line.
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Shows the progress of `run` over its next `steps` steps.
    pub fn new(what: String, run: &Arc<Run>, steps: u64) -> Self {
        let (run, start) = (Arc::clone(run), run.done());
        Monitor::show(what, move || (run.done() - start) as f64 / steps.max(1) as f64)
    }

    /// Shows how much of `time` has passed.
    pub fn of_time(what: String, time: Duration) -> Self {
        let start = Instant::now();
        Monitor::show(what, move || start.elapsed().as_secs_f64() / time.as_secs_f64())
    }

    /// Shows a share from 0 to 1, and returns what receives it.
    pub fn of_share(what: String) -> (Self, impl FnMut(f64)) {
        let received = Arc::new(AtomicU64::new(0));
        let shown = Arc::clone(&received);
        let monitor = Monitor::show(what, move || f64::from_bits(shown.load(Relaxed)));
        (monitor, move |share| received.store(share.to_bits(), Relaxed))
    }

    fn show(what: String, share: impl Fn() -> f64 + Send + 'static) -> Self {
        if !stderr().is_terminal() {
            return Monitor { end: None, thread: None };
        }
        let (end, ended) = channel();
        let thread = Builder::new().spawn(move || follow(&what, share, &ended));
        Monitor { end: Some(end), thread: thread.ok() }
    }
}

/// Draws what is done until the work has ended. Lines are drawn over one another, which every terminal can do.
fn follow(what: &str, share: impl Fn() -> f64, ended: &Receiver<()>) {
    let (start, mut width) = (Instant::now(), 0);
    while ended.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
        let elapsed = start.elapsed();
        if elapsed >= SHOW_AFTER {
            let line = line(what, share(), elapsed);
            width = width.max(line.chars().count());
            let _ = write!(stderr(), "\r{line:<width$}");
        }
    }
    if width > 0 {
        let _ = write!(stderr(), "\r{:width$}\r", "");
    }
}

/// The work done, its time, and the time of the rest at that pace.
fn line(what: &str, share: f64, elapsed: Duration) -> String {
    /// A longer text would take more than a line of most terminals.
    const WIDTH: usize = 40;
    let what: String = what.chars().take(WIDTH).collect();
    let share = share.clamp(0.0, 1.0);
    let left = elapsed.as_secs_f64() * (1.0 / share - 1.0);
    let about = if left.is_finite() { format!(", about {} left", span(1e9 * left)) } else { String::new() };
    format!("{what} {:.0} % after {}{about}", 100.0 * share, span(elapsed.as_nanos() as f64))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_share_and_the_times() {
        let line = |share| line("work", share, Duration::from_secs(30));
        assert_eq!(line(0.25), format!("work 25 % after {}, about {} left", span(30e9), span(90e9)));
        assert_eq!(line(0.0), format!("work 0 % after {}", span(30e9)));
    }
}
