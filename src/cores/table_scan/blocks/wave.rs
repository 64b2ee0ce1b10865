//! How far each superband of [`super`] has come, and how one waits for another.
//!
//! Steps are candidates. A superband runs those of a segment once the one before it has: then no two threads mark the same word, and all
//! that a search depends on is done. `model` checks this for small superbands.

#[cfg(all(test, loom))]
mod model;

use std::time::Duration;

use crate::kernel::RunError;
use crate::machine::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::machine::sync::{spin_loop, yield_now};

/// Reads of a counter after which a thread sleeps between two reads: it then assumes that the thread of the superband before is
/// itself kept from running.
const SPINS_BEFORE_SLEEP: u32 = 1 << 20;

/// Counters of how far each superband has come.
pub struct Wave {
    done: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Wave {
    /// A wave in which no step of any superband is done.
    pub fn new(superbands: usize) -> Self {
        Wave { done: (0..superbands).map(|_| AtomicUsize::new(0)).collect(), stopped: AtomicBool::new(false) }
    }

    /// Bytes of a wave.
    pub fn bytes(superbands: usize) -> f64 {
        (superbands * size_of::<AtomicUsize>()) as f64
    }

    /// Waits until the superband before number `index` has run the steps below `step`.
    pub fn wait(&self, index: usize, step: usize) -> Result<(), RunError> {
        let Some(before) = index.checked_sub(1) else { return Ok(()) };
        let mut spins = 0_u32;
        while self.done[before].load(Ordering::Acquire) < step {
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

    /// Records that superband `index` has run its steps below `end`.
    pub fn leave(&self, index: usize, end: usize) {
        self.done[index].store(end, Ordering::Release);
    }
}

/// Guards the share of a thread: if an error or a panic ends it early, other threads stop waiting for its superbands.
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

    const SUPERBANDS: usize = u64::BITS as usize;
    const THREADS: usize = 4;
    const STEPS: usize = 3000;

    /// Each superband marks its bit in the word of each step, and first looks for the bits of all superbands before it. Emulated on a
    /// CPU that reorders less, this shows that the code runs, not that the order holds: `model` shows that.
    #[test]
    fn a_superband_sees_the_marks_of_all_before_it() {
        let wave = Wave::new(SUPERBANDS);
        let words: Vec<AtomicU64> = (0..STEPS).map(|_| AtomicU64::new(0)).collect();
        let work = |thread: usize| {
            let stop_on_drop = StopOnDrop(&wave);
            for index in (thread..SUPERBANDS).step_by(THREADS) {
                let before = (1_u64 << index) - 1;
                for step in (0..STEPS).step_by(7) {
                    let end = STEPS.min(step + 7);
                    wave.wait(index, end).expect("no thread stops early");
                    for word in &words[step..end] {
                        assert_eq!(word.load(Relaxed) & before, before, "superband {index} from step {step} on");
                        word.store(word.load(Relaxed) | 1 << index, Relaxed);
                    }
                    wave.leave(index, end);
                }
            }
            std::mem::forget(stop_on_drop);
        };
        let work = &work;
        std::thread::scope(|scope| (0..THREADS).for_each(|thread| drop(scope.spawn(move || work(thread)))));
        assert!(words.iter().all(|word| word.load(Relaxed) == u64::MAX), "no mark is lost");
    }
}
