//! The runs of a command, one after another, which a signal or the end of their time cancels.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::{Operation, Run, RunError};
use nimlanes::lab::clock::Clock;

use crate::files::surveyed::RunWork;
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;

/// Runs of selected kernels.
pub struct Work {
    /// The command, and what it is about.
    title: String,
    pub selection: Selection,
    pub run: Arc<Run>,
    /// How long they may take in all.
    pub time: Option<Duration>,
    begin: (Instant, Duration),
    clock: Clock,
    /// The latest one.
    kernel: Cell<&'static str>,
}

impl Work {
    /// Work that begins now.
    pub fn new(title: String, selection: Selection, time: Option<Duration>) -> Self {
        let (run, clock) = (interrupt::run(selection.threads()), Clock::for_threads(selection.threads()));
        Work { title, selection, run, time, begin: (Instant::now(), clock.now()), clock, kernel: Cell::new("") }
    }

    /// Runs the selected kernel of an operation up to a limit. `of` makes inputs with other limits.
    pub fn run<O: Operation, E>(
        &self,
        start: O::Start,
        input: &O::Input,
        limit: u64,
        of: impl Fn(u64) -> Result<O::Input, E>,
    ) -> Result<Result<O::Output, RunError>, Failure> {
        let kernel = self.selection.kernel_for::<O, E>(input, limit, of)?;
        self.kernel.set(kernel.def().name);
        let title = format!("{}: {}", self.title, kernel.def().name);
        let _monitor = match self.time {
            None => Monitor::new(title, &self.run, O::steps(input)),
            Some(time) => Monitor::of_time(title, time.saturating_sub(self.begin.0.elapsed())),
        };
        let ((end, ended), run) = (channel::<()>(), &self.run);
        let found = thread::scope(|scope| {
            if let Some(time) = self.time {
                let left = time.saturating_sub(self.begin.0.elapsed());
                scope.spawn(move || {
                    if ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                        run.cancel();
                    }
                });
            }
            let found = kernel.run_from(start, input, run);
            drop(end);
            found
        });
        Ok(found)
    }

    /// Whether the time is over, and no signal ended the command.
    pub fn is_out_of_time(&self) -> bool {
        self.time.is_some_and(|time| self.begin.0.elapsed() >= time) && !interrupt::is_over()
    }

    /// The work that was done.
    pub fn effort(&self) -> RunWork {
        RunWork {
            kernel: self.kernel.get().to_owned(),
            threads: self.selection.threads(),
            clock: self.clock.name().to_owned(),
            seconds: (self.clock.now() - self.begin.1).as_secs_f64(),
        }
    }
}
