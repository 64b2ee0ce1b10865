//! The tapes of a run, and how a span sees them.

use std::ops::Range;

use super::automaton::Joint;
use super::engine::Sources;
use super::substitution::{DIFFERENCE, SUM, USED, word_length};
use super::tape::{BitString, NewMarks, Tape};
use crate::cores::occupancy::charge;
use crate::simd::bits::WORD;

/// Lines by which `d` may differ from where it is expected a few heaps away: far more than was ever seen.
pub const MARGIN: u64 = 4096;
/// One more for this many heaps.
const DRIFT: u64 = 16;
/// By how much `d` grows per heap: the slope of the lower beam less one, observed.
const SPEED: f64 = 0.4778;

/// About where `d` is at heap `n`, given a joint near it.
pub fn expected(joint: &Joint, n: u64) -> u64 {
    (joint.d as f64 + SPEED * (n as f64 - joint.n as f64)).max(0.0) as u64
}

/// The tapes of a run: [`NewMarks`] from the beginning on.
pub struct Tapes {
    pub used: Tape,
    pub sum: [Tape; 2],
    pub flags: Tape,
}

impl Tapes {
    /// Empty tapes that keep `shares` of the limit and some more.
    pub fn new(limit: u64, shares: [f64; 3], more: u64) -> Self {
        let tape = |share: f64| Tape::new(((limit as f64 * share) as usize + more as usize) / WORD);
        let [used, sum, flags] = shares;
        Tapes { used: tape(used), sum: [tape(sum), tape(sum)], flags: tape(flags) }
    }

    /// What a span reads of them.
    #[inline(always)]
    pub fn sources(&self) -> Sources<'_, Tape> {
        let Tapes { used, sum: [even, odd], flags } = self;
        Sources { used, sum: [even, odd], flags: [flags; 3] }
    }

    /// Appends marks, and empties their lists.
    #[inline(always)]
    pub fn append(&mut self, marks: &mut NewMarks) {
        let Tapes { used, sum: [even, odd], flags } = self;
        let [new_even, new_odd] = &marks.sum;
        for (tape, list) in [(used, &marks.used), (even, new_even), (odd, new_odd), (flags, &marks.flags)] {
            tape.append(list);
        }
        marks.clear();
    }

    /// What a run reads from the first to the last of these heaps, given a joint near them.
    pub fn slices(&self, heaps: Range<u64>, joint: &Joint) -> Slices {
        // Bounds of `d` at a heap.
        let bounds = |n: u64| {
            let (d, margin) = (expected(joint, n), MARGIN + n.abs_diff(joint.n) / DRIFT);
            [d.saturating_sub(margin), d + margin]
        };
        let Range { start, end } = heaps;
        let ([low, high], [last_low, last_high]) = (bounds(start), bounds(end));
        let words = |from: u64, to: u64| from as usize / WORD..to as usize / WORD + 1;
        let sums = words(start.saturating_sub(high) / 2, (end - last_low.min(end)) / 2 + MARGIN);
        let flags = |zeros: u64, from: u64, to: u64| {
            let word = |bit| self.flags.find(zeros, bit).map(|(word, _)| word);
            self.flags.slice(word(from).unwrap_or(0)..word(to + MARGIN).map_or(usize::MAX, |word| word + 2))
        };
        Slices {
            used: self.used.slice(words(start, end + MARGIN)),
            sum: [self.sum[0].slice(sums.clone()), self.sum[1].slice(sums)],
            flags: [
                flags(word_length(&USED), start + low, end + last_high),
                flags(word_length(&DIFFERENCE), low, last_high),
                flags(word_length(&SUM), start / 2 + low, end / 2 + last_high),
            ],
        }
    }

    /// Releases what is not read from heap `n` on, if `d` is at least that large there.
    pub fn release(&mut self, n: u64, d: u64) {
        self.used.release(n as usize / WORD);
        let sums = n.saturating_sub(d + MARGIN) / 2;
        self.sum.iter_mut().for_each(|tape| tape.release(sums as usize / WORD));
        if let Some((word, _)) = self.flags.find(word_length(&DIFFERENCE), d.saturating_sub(MARGIN)) {
            self.flags.release(word);
        }
    }
}

/// Parts of the tapes.
pub struct Slices {
    used: Tape,
    sum: [Tape; 2],
    flags: [Tape; 3],
}

impl Slices {
    /// What a span reads of them.
    #[inline(always)]
    pub fn sources(&self) -> Sources<'_, Tape> {
        Sources {
            used: &self.used,
            sum: [&self.sum[0], &self.sum[1]],
            flags: [&self.flags[0], &self.flags[1], &self.flags[2]],
        }
    }
}

/// Guesses.
impl Slices {
    /// The state with the right charge at heap `n`, given an estimate of the mex of the differences there.
    pub fn guess(&self, n: u64, near: u64) -> Option<Joint> {
        let differences = |x: u64| Some(x - 1 - self.uppers_below(x)?);
        // The line of (0,0) is 0, which is no slot.
        let lines = |x: u64| Some(x - self.sum[0].rank(x.div_ceil(2))? - self.sum[1].rank(x / 2 + 1)?);
        let charge = charge::guess(n, near, 0..n, differences, lines)?;
        let unused = n - self.used.rank(n)?;
        Some(Joint::guess(n, &charge, unused.checked_sub(charge.lowers)?))
    }

    /// The number of differences below `x` that upper positions occupy.
    fn uppers_below(&self, x: u64) -> Option<u64> {
        let flags = &self.flags[1];
        let (word, mut uppers) = flags.find(word_length(&DIFFERENCE), x)?;
        for word in word..word + 2 {
            let mut left = flags.get(word)?;
            while left != 0 {
                let n = (WORD * word) as u64 + u64::from(left.trailing_zeros());
                if n + uppers + 1 >= x {
                    return Some(uppers);
                }
                uppers += 1;
                left &= left - 1;
            }
        }
        Some(uppers)
    }
}
