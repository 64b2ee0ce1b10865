//! The values of a run: where they start, where they are saved, and the driver of kernels that go heap by heap.

use std::fmt;
use std::sync::Arc;

use super::input::Octal;
use crate::cores::octal::sparse::codes::LANES;
use crate::kernel::{Run, RunError};

/// Saves the progress of a run.
pub trait Journal: Send + Sync {
    /// Called between blocks with all values that are known. `is_last` is true if the run is about to stop early.
    fn keep(&self, values: &[u16], is_last: bool);
}

/// Where a run starts, and where it saves its progress. By default it starts at heap 0 and saves nothing.
#[derive(Default)]
pub struct Start {
    pub(in crate::cores::octal) from: Vec<u16>,
    pub(in crate::cores::octal) journal: Option<Arc<dyn Journal>>,
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("known", &self.from.len()).field("is_kept", &self.journal.is_some()).finish()
    }
}

impl Start {
    /// A run that saves its progress to `journal`, and begins after the values `from`, which must be those of the first heaps.
    pub fn with_journal(journal: Arc<dyn Journal>, from: Vec<u16>) -> Self {
        Start { from, journal: Some(journal) }
    }
}

/// The values known so far, and where they are saved.
pub struct Values<'a> {
    pub known: Vec<u16>,
    pub heaps: usize,
    /// How many of them count as progress.
    counted: usize,
    journal: Option<Arc<dyn Journal>>,
    run: &'a Run,
}

impl<'a> Values<'a> {
    pub fn new(input: &Octal, run: &'a Run, start: Start) -> Self {
        let (mut known, heaps) = (start.from, input.heaps());
        known.truncate(heaps);
        // A block may end past the limit.
        known.reserve_exact(heaps - known.len() + LANES);
        Values { known, heaps, counted: 0, journal: start.journal, run }
    }

    /// Whether all values are known.
    pub fn is_complete(&self) -> bool {
        self.known.len() == self.heaps
    }

    /// Repeats the last values up to the limit.
    pub fn repeat(&mut self, period: usize) -> Result<(), RunError> {
        while !self.is_complete() {
            let from = self.known.len() - period;
            let end = (self.known.len() + REPEAT_STEP).min(self.heaps);
            while self.known.len() < end {
                // All whole periods since `from` are copied, so each step about doubles them.
                let count = (self.known.len() - from) / period * period;
                self.known.extend_from_within(from..from + count.min(end - self.known.len()));
            }
            self.advance()?;
        }
        Ok(())
    }

    /// Takes the value of the next heap, `None` if it is too large, and counts progress now and then.
    #[inline(always)]
    pub fn push(&mut self, value: Option<u16>) -> Result<(), RunError> {
        self.known.push(value.ok_or(RunError::LargeValue)?);
        if self.known.len().is_multiple_of(PROGRESS_STEP) { self.advance() } else { Ok(()) }
    }

    /// Counts and saves progress.
    pub fn advance(&mut self) -> Result<(), RunError> {
        let more = self.known.len() - std::mem::replace(&mut self.counted, self.known.len());
        let end = self.run.advance(more as u64);
        if let Some(journal) = &self.journal {
            journal.keep(&self.known, end.is_err());
        }
        end
    }
}

/// Repeated values between two progress updates.
const REPEAT_STEP: usize = 1 << 16;
/// Heaps between two progress updates, for kernels that go heap by heap.
const PROGRESS_STEP: usize = 256;

/// The driver of kernels that go heap by heap: `value(n, g)` is the Grundy value of `n >= 1`, given those of `0..n`, or `None`
/// if it is too large.
#[inline(always)]
pub fn heap_by_heap(
    input: &Octal,
    run: &Run,
    start: Start,
    mut value: impl FnMut(usize, &[u16]) -> Option<u16>,
) -> Result<Vec<u16>, RunError> {
    let mut values = Values::new(input, run, start);
    while !values.is_complete() {
        let n = values.known.len();
        let value = if n == 0 { Some(0) } else { value(n, &values.known) };
        values.push(value)?;
    }
    values.advance()?;
    Ok(values.known)
}

/// The nim-sums of all splits of `left` into two heaps of at least `least`.
#[inline(always)]
pub fn pairs(g: &[u16], left: usize, least: usize, is_unequal: bool) -> impl Iterator<Item = u16> + '_ {
    let half = left.saturating_sub(usize::from(is_unequal)) / 2;
    let count = (half + 1).saturating_sub(least);
    let (small, large) = (&g[least..][..count], &g[left + 1 - least - count..][..count]);
    small.iter().zip(large.iter().rev()).map(|(a, b)| a ^ b)
}
