//! The threads of one run: every kernel and every search that needs more than the calling thread starts them here.

use std::panic::resume_unwind;
use std::sync::{Mutex, OnceLock};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::kernel::RunError;

/// Starts `work` on a new thread.
///
/// # Errors
/// [`RunError::NoThread`] if the system cannot start one; `work` has not begun then.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, RunError> {
    #[cfg(any(test, debug_assertions))]
    faults::count_down()?;
    Builder::new().spawn_scoped(scope, work).map_err(|_| RunError::NoThread)
}

/// Threads that cannot be started, for tests. Here if debug assertions are on.
#[cfg(any(test, debug_assertions))]
#[doc(hidden)]
pub mod faults {
    use std::cell::Cell;

    use super::RunError;

    thread_local! {
        /// The number of threads that this thread can still start, if there is a limit.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Counts a thread that is about to start.
    pub(super) fn count_down() -> Result<(), RunError> {
        match LEFT.get() {
            Some(0) => Err(RunError::NoThread),
            left => {
                LEFT.set(left.map(|left| left - 1));
                Ok(())
            }
        }
    }

    /// Runs `work` where this thread can start at most `threads` threads.
    pub fn with_at_most<T>(threads: usize, work: impl FnOnce() -> T) -> T {
        LEFT.set(Some(threads));
        let result = work();
        LEFT.set(None);
        result
    }
}

/// The result of a thread. A panic of the thread is resumed here.
pub fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs `work(0)` on this thread and `work(1)`, ..., `work(threads - 1)` on others at the same time. The results are in
/// that order.
///
/// No share begins before all threads have started, so a share may wait for another one.
///
/// # Errors
/// [`RunError::NoThread`] if not all threads can be started; no share has begun then. Otherwise the error of the first
/// share, in order, that failed by itself: one that another share stops says that it was cancelled.
pub fn share<T: Send>(threads: usize, work: impl Fn(usize) -> Result<T, RunError> + Sync) -> Result<Vec<T>, RunError> {
    let mut results = Vec::with_capacity(threads);
    for _ in 0..threads {
        results.push(Mutex::new(None));
    }
    share_unnamed(threads, &|thread| {
        let result = work(thread)?;
        *results[thread].lock().expect("one share has it") = Some(result);
        Ok(())
    })?;
    let mut all = Vec::with_capacity(threads);
    for result in results {
        all.push(result.into_inner().expect("no panic").expect("the share has ended"));
    }
    Ok(all)
}

/// [`share`] of work without results, compiled once instead of for every kernel: starting threads takes more code than some kernels.
fn share_unnamed(threads: usize, work: &(dyn Fn(usize) -> Result<(), RunError> + Sync)) -> Result<(), RunError> {
    let started = &OnceLock::new();
    let mut ends = Vec::new();
    ends.resize_with(threads, || Mutex::new(Ok(())));
    let work = &|thread: usize| {
        let ended = work(thread);
        *ends[thread].lock().expect("one share has it") = ended;
    };
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for thread in 1..threads {
            let at_gate = move || {
                if *started.wait() {
                    work(thread);
                }
            };
            match start(scope, at_gate) {
                Ok(other) => others.push(other),
                Err(missing) => {
                    // The others wait at the gate.
                    started.get_or_init(|| false);
                    return Err(missing);
                }
            }
        }
        started.get_or_init(|| true);
        work(0);
        for other in others {
            join(other);
        }
        Ok(())
    })?;
    let mut result = Ok(());
    for end in ends {
        let end = end.into_inner().expect("no panic");
        if result.is_ok() || result == Err(RunError::Cancelled) && end.is_err() {
            result = end;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::faults::with_at_most;
    use super::*;

    #[test]
    fn shares_are_done_together_or_not_at_all() {
        let begun = AtomicUsize::new(0);
        let work = |thread| {
            begun.fetch_add(1, Relaxed);
            Ok(thread)
        };
        for started in 0..4 {
            assert_eq!(with_at_most(started, || share(5, work)), Err(RunError::NoThread), "{started} of 4");
        }
        assert_eq!(begun.load(Relaxed), 0);
        assert_eq!(with_at_most(4, || share(5, work)), Ok(vec![0, 1, 2, 3, 4]));
        let stopped = |thread| if thread < 3 { Ok(thread) } else { Err(RunError::Overflow) };
        assert_eq!(share(5, stopped), Err(RunError::Overflow));
        // The cause is told, not that the shares before it were stopped.
        let stops_others = |thread| Err::<(), _>(if thread == 3 { RunError::Overflow } else { RunError::Cancelled });
        assert_eq!(share(5, stops_others), Err(RunError::Overflow));
        assert_eq!(share(5, |_| Err::<(), _>(RunError::Cancelled)), Err(RunError::Cancelled));
    }
}
