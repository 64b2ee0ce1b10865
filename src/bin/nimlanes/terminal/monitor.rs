//! Progress bars for long work.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
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
        let bar = hidden(what, all);
        let show = move || follow(&bar, SHOW_AFTER, ProgressDrawTarget::stderr, done, &ended);
        Monitor { end: Some(end), thread: Builder::new().spawn(show).ok() }
    }
}

/// A bar whose clock runs, and which is not drawn.
fn hidden(what: String, all: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {elapsed} (about {eta} left)");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(what)
}

/// Has a bar follow what is done, and draws it if the work lasts longer than `show_after`.
fn follow(
    bar: &ProgressBar,
    show_after: Duration,
    target: impl FnOnce() -> ProgressDrawTarget,
    done: impl Fn() -> u64,
    ended: &Receiver<()>,
) {
    let mut target = Some(target);
    while ended.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
        if bar.elapsed() >= show_after
            && let Some(target) = target.take()
        {
            bar.set_draw_target(target());
        }
        bar.set_position(done().min(bar.length().unwrap_or(u64::MAX)));
    }
    bar.finish_and_clear();
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
    use std::io;

    use indicatif::TermLike;

    use super::*;

    /// A terminal that tells of the first text that it is to show.
    #[derive(Debug)]
    struct Screen(Mutex<Option<Sender<String>>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            let shown = self.0.lock().expect("it does not panic").take_if(|_| text.contains("work"));
            shown.map_or(Ok(()), |shown| shown.send(text.to_owned()).map_err(io::Error::other))
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A bar is shown late, and its clock has run before that.
    #[test]
    fn the_clock_of_a_bar_starts_with_the_work() {
        let ((end, ended), (show, shown)) = (channel(), channel());
        let screen = || ProgressDrawTarget::term_like(Box::new(Screen(Mutex::new(Some(show)))));
        let bar = hidden("work".to_owned(), 100).with_elapsed(SHOW_AFTER + Duration::from_secs(1));
        let text = std::thread::scope(|scope| {
            scope.spawn(move || follow(&bar, SHOW_AFTER, screen, || 50, &ended));
            let text = shown.recv().expect("it is shown");
            drop(end);
            text
        });
        assert!(text.contains("% 3s (about "), "{text}");
    }
}
