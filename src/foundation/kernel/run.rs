//! One run of a kernel: its threads, its progress, how it is stopped, and why it may fail.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::text::units::bytes;

/// The most threads of a run: no kernel gains from more, and each needs a stack.
pub const MAX_THREADS: usize = 1024;

/// Why a run ended without an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// [`Run::cancel`] was called.
    #[error("interrupted")]
    Cancelled,
    /// A Grundy value does not fit in the 16 bits that hold it in the output.
    #[error("a Grundy value passes 65535, the largest that is kept")]
    LargeValue,
    /// A number does not fit in the type that holds it within the kernel.
    #[error("a number is too large for the type that holds it")]
    Overflow,
    /// The system could not start a thread that the run needs; a run with fewer threads may succeed.
    #[error("a thread could not be started: memory or the number of threads is at its limit; use fewer threads")]
    NoThread,
    /// The kernel found during the run that it cannot handle the input. The text says what happened, and what to do
    /// instead.
    #[error("{0}")]
    GaveUp(&'static str),
    /// The run would not fit in the memory that was free when its kernel was looked up.
    #[error("the run needs {} and {} are free", bytes(*.needs as f64), bytes(*.free as f64))]
    Memory {
        /// Bytes that the run needs.
        needs: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The kernel cannot handle the input, or needs more threads: its cost is
    /// [`Cost::IMPOSSIBLE`](super::Cost::IMPOSSIBLE).
    #[error("the input is outside the kernel's domain")]
    OutsideDomain,
    /// The kernel was chosen for a described machine ([`Machine::described`](crate::machine::Machine::described)) with this tier, and
    /// this CPU lacks it.
    #[error("the kernel needs the {0} tier and this CPU lacks it")]
    Tier(&'static str),
}

/// How an observed kernel ([`Claim::Observed`](super::Claim::Observed)) checked itself in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// How often the run was compared with itself; it was equal each time.
    pub comparisons: u64,
    /// What was checked, for people.
    pub summary: String,
    /// What was checked, as numbers under names that the kernel defines.
    pub numbers: Vec<(&'static str, u64)>,
}

impl Evidence {
    /// What a kernel found as it checked itself.
    #[doc(hidden)]
    pub fn new(comparisons: u64, summary: String, numbers: Vec<(&'static str, u64)>) -> Self {
        Evidence { comparisons, summary, numbers }
    }

    /// The number with this name, if there is one.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.numbers.iter().find(|number| number.0 == name).map(|number| number.1)
    }
}

/// Serialized as a map of the named numbers.
#[cfg(feature = "serde")]
impl serde::Serialize for Evidence {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.numbers.iter().copied())
    }
}

/// One run of a kernel: the number of threads it may use, its progress, and whether it should stop.
#[derive(Debug)]
pub struct Run {
    threads: usize,
    done: AtomicU64,
    /// The flag is shared with runs that count their own progress, see [`Run::counted_apart`].
    cancelled: Arc<AtomicBool>,
    evidence: Mutex<Option<Evidence>>,
}

impl Run {
    /// A run that may use `threads` threads; 0 counts as 1, and more than [`MAX_THREADS`] count as so many. For kernels
    /// that a [`Selection`](super::selection::Selection) chooses, see
    /// [`Selection::run`](super::selection::Selection::run).
    pub fn new(threads: usize) -> Self {
        Run {
            threads: threads.clamp(1, MAX_THREADS),
            done: AtomicU64::new(0),
            cancelled: Arc::default(),
            evidence: Mutex::default(),
        }
    }

    /// A run that is cancelled together with this one but counts its own progress, for work that is not part of this
    /// run's steps.
    #[doc(hidden)]
    pub fn counted_apart(&self) -> Self {
        Run { cancelled: Arc::clone(&self.cancelled), ..Run::new(self.threads) }
    }

    /// The number of threads that the kernel may use, including the calling thread.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Counts `steps` of [`Operation::steps`](super::Operation::steps) as done; kernels call it once per block of work.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] after [`Run::cancel`].
    #[inline]
    pub fn advance(&self, steps: u64) -> Result<(), RunError> {
        // Relaxed: the counter orders no other access.
        self.done.fetch_add(steps, Relaxed);
        if self.cancelled.load(Relaxed) { Err(RunError::Cancelled) } else { Ok(()) }
    }

    /// The number of steps done so far, by all kernels that ran with this `Run`.
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Keeps the evidence of a kernel that checked itself.
    #[doc(hidden)]
    pub fn observe(&self, evidence: Evidence) {
        *self.evidence.lock().unwrap_or_else(PoisonError::into_inner) = Some(evidence);
    }

    /// How the last observed kernel that ran with this `Run` checked itself; `None` if there was none, or if it left
    /// its work to an exact one.
    pub fn evidence(&self) -> Option<Evidence> {
        self.evidence.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the kernel to stop at its next block.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }
}
