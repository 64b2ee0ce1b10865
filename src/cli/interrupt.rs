//! SIGINT (Ctrl-C), SIGTERM and SIGHUP end all runs at their next block, and those to come before their first. A second request
//! ends the process, and so does the first if no run has been made yet. A signal that whoever started the process wants
//! ignored, as `nohup` does, stays ignored.

use std::fs::read_to_string;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, mpsc};
use std::thread;

use nimlanes::kernel::Run;
use nimlanes::lab::files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// The runs of this process, and whether they are to end.
struct Runs {
    /// The signal that asked for the end.
    ended_by: Option<i32>,
    /// Whether there is a run, or has been one.
    has_begun: bool,
    alive: Vec<Weak<Run>>,
}

impl Runs {
    const fn new() -> Self {
        Runs { ended_by: None, has_begun: false, alive: Vec::new() }
    }

    /// A new run: cancelled by the next request, or by one that came before it.
    fn run(&mut self, threads: usize) -> Arc<Run> {
        let run = Arc::new(Run::new(threads));
        if self.ended_by.is_some() {
            run.cancel();
        }
        self.has_begun = true;
        self.alive.retain(|run| run.strong_count() > 0);
        self.alive.push(Arc::downgrade(&run));
        run
    }

    /// Cancels all runs; whether the process is to end at once.
    fn cancel(&mut self, signal: i32) -> bool {
        self.alive.iter().filter_map(Weak::upgrade).for_each(|run| run.cancel());
        self.ended_by.replace(signal).is_some() || !self.has_begun
    }
}

static RUNS: Mutex<Runs> = Mutex::new(Runs::new());

fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new run, which these signals cancel.
pub fn run(threads: usize) -> Arc<Run> {
    runs().run(threads)
}

/// Whether a signal has asked for the end.
pub fn is_over() -> bool {
    runs().ended_by.is_some()
}

/// The exit code of a command that a signal has ended, as shells have it.
pub fn exit_code() -> u8 {
    code(runs().ended_by.unwrap_or(SIGINT)) as u8
}

fn code(signal: i32) -> i32 {
    128 + signal
}

/// Handles signals from here on.
pub fn watch() {
    // With a handler, a file that passes `ulimit -f` is an error of the write; without one the process ends.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // Where nobody says what is ignored, SIGHUP is left as it is, for the sake of `nohup`.
    let ignored = read_to_string("/proc/self/status").ok().and_then(|status| ignored(&status));
    let is_heeded = |signal: &i32| ignored.map_or(*signal != SIGHUP, |set| set >> (signal - 1) & 1 == 0);
    let heeded: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_heeded).collect();
    let (ready, is_ready) = mpsc::channel::<()>();
    let wait = move || {
        let Ok(mut signals) = Signals::new(heeded) else { return };
        drop(ready);
        for signal in signals.forever() {
            if runs().cancel(signal) {
                files::exit(code(signal));
            }
        }
    };
    // Without this thread signals still end the process, only less politely.
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(wait);
    let _ = is_ready.recv();
}

/// The signals that this process was told to ignore, bit `s - 1` for signal `s`, as Linux lists them.
fn ignored(status: &str) -> Option<u64> {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::RunError;

    use super::{Runs, SIGINT, SIGTERM, ignored};

    #[test]
    fn a_request_reaches_every_run_and_those_to_come() {
        let mut runs = Runs::new();
        drop(runs.run(1));
        let made = [runs.run(1), runs.run(2)];
        assert!(made.iter().all(|run| run.advance(1) == Ok(())));
        assert!(!runs.cancel(SIGTERM), "nobody asked before");
        assert_eq!(runs.ended_by, Some(SIGTERM));
        let later = runs.run(1);
        assert!(made.iter().chain([&later]).all(|run| run.advance(1) == Err(RunError::Cancelled)));
        assert!(runs.cancel(SIGINT), "the second request");
        assert!(Runs::new().cancel(SIGINT), "there is no run to wait for");
    }

    #[test]
    fn ignored_signals_are_read_from_the_status_of_a_process() {
        assert_eq!(ignored("Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001003\n"), Some(0x1003));
        assert_eq!(ignored("Name:\tx\n"), None);
    }
}
