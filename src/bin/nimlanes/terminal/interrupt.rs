//! SIGINT (Ctrl-C), SIGTERM, SIGHUP, and the signals by which batch systems warn that time is nearly up (SIGUSR1, SIGUSR2 and
//! SIGXCPU) cancel all runs at their next block, and later runs before their first. A second signal ends the process, and so does the
//! first one if no run has been created yet. Signals that were ignored when the process started, as under `nohup`, stay ignored.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nimlanes::kernel::Run;

use crate::files;

/// The signal of Ctrl-C, everywhere.
const SIGINT: i32 = 2;

/// The runs of this process, and whether they are cancelled.
struct Runs {
    /// The latest signal, if any.
    ended_by: Option<i32>,
    /// The latest run that was created, and others that may be alive.
    latest: Vec<Weak<Run>>,
}

impl Runs {
    const fn new() -> Self {
        Runs { ended_by: None, latest: Vec::new() }
    }

    /// Creates a run. The next signal cancels it, and so does an earlier one.
    fn run(&mut self, threads: usize) -> Arc<Run> {
        let run = Arc::new(Run::new(threads));
        if self.ended_by.is_some() {
            run.cancel();
        }
        self.latest.retain(|run| run.strong_count() > 0);
        self.latest.push(Arc::downgrade(&run));
        run
    }

    /// Cancels all runs. Returns whether the process must exit at once.
    fn cancel(&mut self, signal: i32) -> bool {
        self.latest.iter().filter_map(Weak::upgrade).for_each(|run| run.cancel());
        self.ended_by.replace(signal).is_some() || self.latest.is_empty()
    }
}

static RUNS: Mutex<Runs> = Mutex::new(Runs::new());

fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a run that signals cancel.
pub fn run(threads: usize) -> Arc<Run> {
    runs().run(threads)
}

/// Whether a signal has arrived.
pub fn is_over() -> bool {
    runs().ended_by.is_some()
}

/// The exit code after a signal, by the convention of shells.
pub fn exit_code() -> u8 {
    128 + runs().ended_by.unwrap_or(SIGINT) as u8
}

/// Handles a signal.
#[cfg_attr(not(any(unix, windows)), allow(dead_code, reason = "there are no signals"))]
fn arrived(signal: i32) {
    if runs().cancel(signal) {
        files::exit(exit_code());
    }
}

pub use here::watch;

#[cfg(unix)]
mod here {
    use std::fs::read_to_string;
    use std::thread;

    use nix::sys::signal::SigSet;
    use nix::sys::signal::Signal::{self, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};

    /// Starts handling signals. Later threads block them, as this one does: a thread waits for them.
    pub fn watch() {
        // Blocked, exceeding `ulimit -f` is a write error, and does not end the process.
        let _ = SigSet::from(SIGXFSZ).thread_block();
        // If the ignored signals are unknown, leave SIGHUP alone, for `nohup`.
        let ignored = read_to_string("/proc/self/status").ok().and_then(|status| {
            // As Linux lists them: bit `s - 1` for signal `s`.
            let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(set.trim(), 16).ok()
        });
        let is_handled =
            |signal: &Signal| ignored.map_or(*signal != SIGHUP, |set| set >> (*signal as i32 - 1) & 1 == 0);
        let handled: SigSet =
            [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU].into_iter().filter(is_handled).collect();
        let _ = handled.thread_block();
        let wait = move || {
            while let Ok(signal) = handled.wait() {
                super::arrived(signal as i32);
            }
        };
        // Without this thread, signals still end the process, but without cleanup.
        if thread::Builder::new().name("signals".to_owned()).spawn(wait).is_err() {
            let _ = handled.thread_unblock();
        }
    }
}

#[cfg(windows)]
mod here {
    /// Starts handling Ctrl-C, which is the only signal here.
    pub fn watch() {
        // Without the handler, Ctrl-C still ends the process, but without cleanup.
        let _ = ctrlc::set_handler(|| super::arrived(super::SIGINT));
    }
}

#[cfg(not(any(unix, windows)))]
mod here {
    /// There are no signals.
    pub fn watch() {}
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::RunError;

    use super::{Runs, SIGINT};

    const SIGTERM: i32 = 15;

    #[test]
    fn a_signal_cancels_all_runs_and_later_ones() {
        let mut runs = Runs::new();
        drop(runs.run(1));
        let made = [runs.run(1), runs.run(2)];
        assert!(made.iter().all(|run| run.advance(1) == Ok(())));
        assert!(!runs.cancel(SIGTERM), "the first signal");
        assert_eq!(runs.ended_by, Some(SIGTERM));
        let later = runs.run(1);
        assert!(made.iter().chain([&later]).all(|run| run.advance(1) == Err(RunError::Cancelled)));
        assert!(runs.cancel(SIGINT), "the second signal");
        assert!(Runs::new().cancel(SIGINT), "there is no run to wait for");
    }
}
