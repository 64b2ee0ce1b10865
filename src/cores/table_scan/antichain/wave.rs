//! How far each band is, and the wait of one band for another.
//!
//! Bands go round the threads. A band may do the steps below `t` when the band before it has done those below `t + 2K`: then no
//! word is marked by two threads, and all that a search depends on is done. `model` shows it for small bands.

#[cfg(all(test, loom))]
mod model;

use std::time::Duration;

use crate::kernel::RunError;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{spin_loop, yield_now};

/// Looks at a counter after which the band before is taken to wait itself: for someone to take its positions.
const PATIENCE: u32 = 1 << 20;

/// Counters of how far each band is.
pub struct Wave {
    done: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Wave {
    /// No step of any band is done.
    pub fn new(bands: usize) -> Self {
        Wave { done: (0..bands).map(|_| AtomicUsize::new(0)).collect(), stopped: AtomicBool::new(false) }
    }

    /// What band `index` of so many layers waits for and tells, among so many heaps.
    pub fn turn(&self, index: usize, layers: usize, heaps: usize) -> Turn<'_> {
        Turn { wave: self, index, layers, last: heaps + layers - 1 }
    }

    /// Waits until band `band` has done the steps below `step`.
    fn wait(&self, band: usize, step: usize) -> Result<(), RunError> {
        let mut spins = 0_u32;
        while self.done[band].load(Ordering::Acquire) < step {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled);
            }
            spins = spins.saturating_add(1);
            match spins {
                PATIENCE.. => std::thread::sleep(Duration::from_millis(1)),
                _ if spins.is_multiple_of(64) => yield_now(),
                _ => spin_loop(),
            }
        }
        Ok(())
    }
}

/// One band's part in the wave.
pub struct Turn<'a> {
    wave: &'a Wave,
    index: usize,
    layers: usize,
    /// The steps of the band before; there is nothing to wait for past the last.
    last: usize,
}

impl Turn<'_> {
    /// Waits until the rows of all layers of the band hold the marks of the bands before.
    pub fn begin(&self) -> Result<(), RunError> {
        self.wait((self.index + 4) * self.layers)
    }

    /// Waits until the band may do its steps below `end`.
    pub fn enter(&self, end: usize) -> Result<(), RunError> {
        self.wait(end + 2 * self.layers)
    }

    /// The band has done its steps below `end`.
    pub fn leave(&self, end: usize) {
        self.wave.done[self.index].store(end, Ordering::Release);
    }

    fn wait(&self, step: usize) -> Result<(), RunError> {
        self.index.checked_sub(1).map_or(Ok(()), |before| self.wave.wait(before, step.min(self.last)))
    }
}

/// The share of a thread. If it goes before it is done, by an error or a panic of the sink, nobody waits for its bands any more.
pub struct Unfinished<'a>(pub &'a Wave);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}
