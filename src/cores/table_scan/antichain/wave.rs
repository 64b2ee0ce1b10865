//! How far each band is, and the wait of one band for another.
//!
//! Bands go round the threads. A band may do the steps below `t` when the band before it has done those below `t + 2K`: then no
//! word is marked by two threads, and all that a search depends on is done.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::kernel::Stop;

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

    /// Waits until band `band` has done the steps below `step`.
    pub fn wait(&self, band: Option<usize>, step: usize) -> Result<(), Stop> {
        let Some(band) = band else { return Ok(()) };
        let mut spins = 0_u32;
        while self.done[band].load(Ordering::Acquire) < step {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Stop::Cancelled);
            }
            spins = spins.saturating_add(1);
            match spins {
                PATIENCE.. => std::thread::sleep(Duration::from_millis(1)),
                _ if spins.is_multiple_of(64) => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        Ok(())
    }

    /// Band `band` has done the steps below `step`.
    pub fn tell(&self, band: usize, step: usize) {
        self.done[band].store(step, Ordering::Release);
    }
}

/// The share of a thread. If it goes before it is done, by an error or a panic of the sink, nobody waits for its bands any more.
pub struct Unfinished<'a>(pub &'a Wave);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}
