//! Periods of values: proved, or observed for long enough to be reported.
//!
//! Values are compared, also through their differences: in an arithmetic period the values of each round are those of the round
//! before plus a constant, the *saltus*.
//!
//! The last values of many games repeat a few times and then go on otherwise. In 0.2048 the repetition doubles again and again: 208 at 500
//! heaps, 416 at 1000, 3328 at 8000. So a repetition without a proof is reported only if it [has lasted](has_lasted). Even then it is
//! no more than observed: that of 0.F6 ends after 30 rounds.

use std::cmp::Reverse;

use crate::kernel::{Run, RunError};
use crate::moves::Code;

/// A repetition of the values: `g(n + period) = g(n) + saltus` for all `n >= preperiod` that were compared, and for all others if it
/// is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Period {
    /// The length of the repetition.
    pub period: usize,
    /// The first heap from which it holds.
    pub preperiod: usize,
    /// The number that each round adds to the values.
    pub saltus: u16,
    /// The largest heap that is compared in the proof; `None` if there is no proof for such games.
    pub certificate: Option<usize>,
    /// Whether the values up to that heap were known.
    pub is_proved: bool,
}

impl Period {
    fn has_lasted(&self, heaps: usize) -> bool {
        has_lasted(self.period as u64, self.preperiod as u64, heaps as u64)
    }

    /// The value of any heap, given those of the first heaps. `None` if it is not among them and the period is not proved.
    ///
    /// # Panics
    /// The values are fewer than those that the period was found in.
    pub fn value(&self, values: &[u16], n: u64) -> Option<u16> {
        let known = values.len() as u64;
        if n < known {
            return Some(values[n as usize]);
        }
        let (period, preperiod) = (self.period as u64, self.preperiod as u64);
        self.is_proved.then(|| values[(preperiod + (n - preperiod) % period) as usize])
    }
}

/// Values that must repeat before a period is considered.
const TAIL: usize = 4096;
/// Repetitions that are tried before the search is given up.
const TRIALS: usize = 16;
/// Rounds after the first that must repeat it before an unproved period is reported.
const ROUNDS: u64 = 8;

/// Whether a repetition without a proof has lasted long enough to be reported: for at least eight rounds after the first, and over at
/// least half of the heaps.
///
/// It may still end: such a period is observed, and the next heap may contradict it.
pub fn has_lasted(period: u64, preperiod: u64, heaps: u64) -> bool {
    let repeated = heaps.saturating_sub(preperiod);
    repeated / (ROUNDS + 1) >= period && repeated >= heaps.div_ceil(2)
}

/// The period that the values of the first heaps prove, or else one that [has lasted](has_lasted) among them.
///
/// A period with a saltus is never proved here. Codes with repeated digits are not searched, because their moves do not end.
///
/// # Errors
/// [`RunError::Cancelled`].
pub fn period(code: &Code, g: &[u16], run: &Run) -> Result<Option<Period>, RunError> {
    let found = repetition(code, g, run)?;
    Ok(found.filter(|found| found.is_proved || found.has_lasted(g.len())))
}

/// A repetition that the last values show, however short: a proved one, else one that has lasted, else the one that begins first.
fn repetition(code: &Code, g: &[u16], run: &Run) -> Result<Option<Period>, RunError> {
    let (Some(last), heaps) = (code.last_place(), g.len()) else { return Ok(None) };
    let tail = TAIL.min(heaps / 4);
    let mut best: Option<Period> = None;
    let mut trials = 0;
    // The last `tail` differences of values must be those a period earlier.
    let difference = |n: usize| g[n].wrapping_sub(g[n - 1]);
    for period in 1..heaps / 2 {
        if period % (1 << 20) == 0 {
            run.advance(0)?;
        }
        let repeats = |back: &usize| difference(heaps - back) == difference(heaps - back - period);
        if tail == 0 || !(1..=tail).all(|back| repeats(&back)) {
            continue;
        }
        let saltus = g[heaps - 1].wrapping_sub(g[heaps - 1 - period]);
        let mut preperiod = heaps - period - 1;
        while preperiod > 0 && g[preperiod - 1].wrapping_add(saltus) == g[preperiod - 1 + period] {
            preperiod -= 1;
        }
        let parts = if code.has_three_parts() { 3 } else { 2 };
        let is_provable = saltus == 0 && !code.is_unequal();
        let certificate = is_provable.then(|| parts * preperiod.max(1) + parts * period + last);
        let is_proved = certificate.is_some_and(|largest| largest < heaps);
        let found = Period { period, preperiod, saltus, certificate, is_proved };
        let rank = |found: Period| (found.is_proved, found.has_lasted(heaps), Reverse(found.preperiod));
        if saltus < 1 << 15 && best.is_none_or(|best| rank(found) > rank(best)) {
            best = Some(found);
        }
        trials += 1;
        if is_proved || trials == TRIALS {
            break;
        }
    }
    Ok(best)
}

/// When to search for a period during a run.
pub struct Watch {
    next: usize,
}

impl Watch {
    /// With fewer heaps, no period is searched for.
    const FIRST: usize = 1024;

    pub fn new() -> Self {
        Watch { next: Self::FIRST }
    }

    /// A proved period of these values, searched for each time they have grown by half, and where a proof is due.
    #[inline(always)]
    pub fn look(&mut self, code: &Code, g: &[u16], run: &Run) -> Result<Option<Period>, RunError> {
        if g.len() < self.next { Ok(None) } else { self.search(code, g, run) }
    }

    /// How many more values there must be for the next search.
    pub fn ahead(&self, known: usize) -> usize {
        self.next.saturating_sub(known)
    }

    #[inline(never)]
    fn search(&mut self, code: &Code, g: &[u16], run: &Run) -> Result<Option<Period>, RunError> {
        let found = repetition(code, g, run)?;
        // A proof that is due after more than twice these heaps is not waited for.
        let due = found.and_then(|period| period.certificate).filter(|largest| *largest >= g.len());
        self.next = due.map_or(g.len() + g.len() / 2, |largest| (largest + 1).min(2 * g.len()));
        Ok(found.filter(|period| period.is_proved))
    }
}
