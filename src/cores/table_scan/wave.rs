//! How far each band has come, and how one band waits for another.
//!
//! Bands go to the threads in turn. A band of [`super::antichain`] may run the steps below `t` once the band before it
//! has run those below `t + 2K`. Then no two threads mark the same word, and everything that a search depends on is
//! done. `model` checks this for small bands. What the superbands of [`super::blocks`] wait for is described there.

#[cfg(all(test, loom))]
mod model;

use std::time::Duration;

use crate::kernel::RunError;
use crate::machine::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::machine::sync::{spin_loop, yield_now};

/// Reads of a counter after which a thread sleeps between two reads: it then assumes that the band before is waiting
/// itself, for its positions to be taken.
const SPINS_BEFORE_SLEEP: u32 = 1 << 20;

/// Counters of how far each band has come.
pub struct Wave {
    done: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Wave {
    /// A wave in which no step of any band is done.
    pub fn new(bands: usize) -> Self {
        Wave { done: (0..bands).map(|_| AtomicUsize::new(0)).collect(), stopped: AtomicBool::new(false) }
    }

    /// Bytes of a wave.
    pub fn bytes(bands: usize) -> f64 {
        (bands * size_of::<AtomicUsize>()) as f64
    }

    /// The turn of band `index`, given the layers of a band and the number of heaps.
    pub fn turn(&self, index: usize, layers: usize, heaps: usize) -> Turn<'_> {
        Turn { wave: self, index, layers, last: heaps + layers - 1 }
    }

    /// Waits until the band before band `index` has run the steps below `step`.
    pub fn wait(&self, index: usize, step: usize) -> Result<(), RunError> {
        let Some(band) = index.checked_sub(1) else { return Ok(()) };
        let mut spins = 0_u32;
        while self.done[band].load(Ordering::Acquire) < step {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled);
            }
            spins = spins.saturating_add(1);
            match spins {
                SPINS_BEFORE_SLEEP.. => std::thread::sleep(Duration::from_millis(1)),
                _ if spins.is_multiple_of(64) => yield_now(),
                _ => spin_loop(),
            }
        }
        Ok(())
    }

    /// Records that band `index` has run its steps below `end`.
    pub fn leave(&self, index: usize, end: usize) {
        self.done[index].store(end, Ordering::Release);
    }
}

/// One band's place in the wave.
pub struct Turn<'a> {
    wave: &'a Wave,
    index: usize,
    layers: usize,
    /// The number of steps of the band before; there is nothing to wait for past the last.
    last: usize,
}

impl Turn<'_> {
    /// Waits until the rows of all layers of the band hold the marks of earlier bands.
    pub fn begin(&self) -> Result<(), RunError> {
        self.wait((self.index + 4) * self.layers)
    }

    /// Waits until the band may run its steps below `end`.
    pub fn enter(&self, end: usize) -> Result<(), RunError> {
        self.wait(end + 2 * self.layers)
    }

    /// Records that the band has run its steps below `end`.
    pub fn leave(&self, end: usize) {
        self.wave.leave(self.index, end);
    }

    fn wait(&self, step: usize) -> Result<(), RunError> {
        self.wave.wait(self.index, step.min(self.last))
    }
}

/// Guards the share of a thread: if an error or a panic of the sink ends it early, other threads stop waiting for its
/// bands.
pub struct StopOnDrop<'a>(pub &'a Wave);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    const BANDS: usize = u64::BITS as usize;
    const THREADS: usize = 4;
    const LAYERS: usize = 2;
    const HEAPS: usize = 3000;

    /// Each band marks its bit in the word of each step, as kernels do, and first looks for the bits of all bands before it in
    /// the words that it may read. Emulated on a CPU that reorders less, this shows that the code runs, not that the order holds:
    /// `model` shows that.
    #[test]
    fn a_band_sees_the_marks_of_all_bands_before_it() {
        let wave = Wave::new(BANDS);
        let last = HEAPS + LAYERS - 1;
        let words: Vec<AtomicU64> = (0..last).map(|_| AtomicU64::new(0)).collect();
        let work = |thread: usize| {
            let stop_on_drop = StopOnDrop(&wave);
            for band in (thread..BANDS).step_by(THREADS) {
                let turn = wave.turn(band, LAYERS, HEAPS);
                let before = (1_u64 << band) - 1;
                for step in (0..last).step_by(7) {
                    let end = last.min(step + 7);
                    turn.enter(end).expect("no thread stops early");
                    for word in &words[step..last.min(end + 2 * LAYERS)] {
                        assert_eq!(word.load(Relaxed) & before, before, "band {band} from step {step} on");
                    }
                    for word in &words[step..end] {
                        word.store(word.load(Relaxed) | 1 << band, Relaxed);
                    }
                    turn.leave(end);
                }
            }
            std::mem::forget(stop_on_drop);
        };
        let work = &work;
        std::thread::scope(|scope| (0..THREADS).for_each(|thread| drop(scope.spawn(move || work(thread)))));
        assert!(words.iter().all(|word| word.load(Relaxed) == u64::MAX), "no mark is lost");
    }
}
