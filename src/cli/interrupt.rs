//! Ctrl-C ends all runs at their next block, and those to come before their first; a second Ctrl-C ends the process.

use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use nimlanes::kernel::Run;

use super::failure::INTERRUPTED;

/// The runs of this process, and whether they are to end.
struct Runs {
    is_over: bool,
    alive: Vec<Weak<Run>>,
}

impl Runs {
    const fn new() -> Self {
        Runs { is_over: false, alive: Vec::new() }
    }

    /// A new run: cancelled by the next request, or by one that came before it.
    fn run(&mut self, threads: usize) -> Arc<Run> {
        let run = Arc::new(Run::new(threads));
        if self.is_over {
            run.cancel();
        }
        self.alive.retain(|run| run.strong_count() > 0);
        self.alive.push(Arc::downgrade(&run));
        run
    }

    /// Cancels all runs; whether that was asked for before.
    fn cancel(&mut self) -> bool {
        self.alive.iter().filter_map(Weak::upgrade).for_each(|run| run.cancel());
        std::mem::replace(&mut self.is_over, true)
    }
}

static RUNS: Mutex<Runs> = Mutex::new(Runs::new());

fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new run, which Ctrl-C cancels.
pub fn run(threads: usize) -> Arc<Run> {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C still ends the process, only less politely.
        let _ = ctrlc::set_handler(|| {
            if runs().cancel() {
                exit(INTERRUPTED.into());
            }
        });
    });
    runs().run(threads)
}

/// Whether Ctrl-C was pressed since the first run was made.
pub fn is_over() -> bool {
    runs().is_over
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::Stop;

    use super::Runs;

    #[test]
    fn a_request_reaches_every_run_and_those_to_come() {
        let mut runs = Runs::new();
        drop(runs.run(1));
        let made = [runs.run(1), runs.run(2)];
        assert!(made.iter().all(|run| run.advance(1) == Ok(())));
        assert!(!runs.cancel(), "nobody asked before");
        let later = runs.run(1);
        assert!(made.iter().chain([&later]).all(|run| run.advance(1) == Err(Stop::Cancelled)));
        assert!(runs.cancel(), "the second request");
    }
}
