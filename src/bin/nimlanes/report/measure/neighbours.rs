//! Other load on a machine during a measurement.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, Builder, Scope};

use nimlanes::kernel::RunError;

/// What runs during a measurement.
#[derive(Clone, Copy)]
pub(super) enum Neighbours {
    None,
    BusyLoops,
    MemoryStream,
}

impl Neighbours {
    pub(super) const ALL: [Neighbours; 3] = [Neighbours::None, Neighbours::BusyLoops, Neighbours::MemoryStream];

    pub(super) fn name(self) -> &'static str {
        match self {
            Neighbours::None => "nothing",
            Neighbours::BusyLoops => "a busy loop for each CPU",
            Neighbours::MemoryStream => "a program that streams memory",
        }
    }

    /// Calls `work` while the neighbours run.
    ///
    /// # Errors
    /// [`RunError::NoThread`]: a neighbour could not be started; `work` was not called.
    pub(super) fn beside<T>(self, threads: usize, work: impl FnOnce() -> T) -> Result<T, RunError> {
        let stopped = AtomicBool::new(false);
        let is_running = || !stopped.load(Relaxed);
        thread::scope(|scope| {
            let busy_loop = || {
                while is_running() {
                    spin_loop()
                }
            };
            let memory_stream = || {
                let mut memory = vec![0u64; STREAM_BYTES / 8];
                while is_running() {
                    for page in black_box(&mut memory).chunks_mut(1 << 16) {
                        page.iter_mut().for_each(|word| *word += 1);
                        if !is_running() {
                            break;
                        }
                    }
                }
            };
            let started = match self {
                Neighbours::None => Ok(()),
                Neighbours::BusyLoops => (0..threads).try_for_each(|_| start(scope, busy_loop)),
                Neighbours::MemoryStream => start(scope, memory_stream),
            };
            let result = started.map(|()| work());
            stopped.store(true, Relaxed);
            result
        })
    }
}

/// Larger than the caches.
const STREAM_BYTES: usize = 256 << 20;

fn start<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> Result<(), RunError> {
    Builder::new().spawn_scoped(scope, work).map(drop).map_err(|_| RunError::NoThread)
}
