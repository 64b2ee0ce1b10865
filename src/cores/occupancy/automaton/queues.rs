//! The queues of a run, how a span sees them, and the start: the queues and the state of the automaton, built from positions that
//! another kernel finds.

use std::ops::Range;

use super::bit_queue::{BitQueue, NewMarks, first_from};
use super::block::{BLOCK, PAD, RegisterSet, Registers};
use super::engine::{SPAN, Sources};
use super::guess;
use super::totals::Joint;
use super::upper_beam::{DIFFERENCE, SUM, USED, word_length};
use crate::cores::occupancy::attack_lines::Set;
use crate::cores::occupancy::bit_rows::window_certificate;
use crate::cores::occupancy::next_free::tree::Tree;
use crate::cores::occupancy::{Positions, ProportionateNim, Wanted};
use crate::kernel::{Run, RunError};
use crate::simd::bits::WORD;
use crate::simd::mapped;

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

/// The queues of a run: [`NewMarks`] from the beginning on.
pub struct Queues {
    pub used: BitQueue,
    pub sum: [BitQueue; 2],
    pub flags: BitQueue,
}

impl Queues {
    /// Empty queues that keep `shares` of the limit and some more.
    pub fn new(limit: u64, shares: [f64; 3], more: u64) -> Self {
        let queue = |share: f64| BitQueue::new(((limit as f64 * share) as usize + more as usize) / WORD);
        let [used, sum, flags] = shares;
        Queues { used: queue(used), sum: [queue(sum), queue(sum)], flags: queue(flags) }
    }

    /// What a span reads of them.
    #[inline(always)]
    pub fn sources(&self) -> Sources<'_, BitQueue> {
        let Queues { used, sum: [even, odd], flags } = self;
        Sources { used, sum: [even, odd], flags: [flags; 3] }
    }

    /// Appends marks, and empties their lists.
    #[inline(always)]
    pub fn append(&mut self, marks: &mut NewMarks) {
        let Queues { used, sum: [even, odd], flags } = self;
        let [new_even, new_odd] = &marks.sum;
        for (queue, list) in [(used, &marks.used), (even, new_even), (odd, new_odd), (flags, &marks.flags)] {
            queue.append(list);
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
        self.sum.iter_mut().for_each(|queue| queue.release(sums as usize / WORD));
        if let Some((word, _)) = self.flags.find(word_length(&DIFFERENCE), d.saturating_sub(MARGIN)) {
            self.flags.release(word);
        }
    }
}

/// Parts of the queues.
pub struct Slices {
    used: BitQueue,
    sum: [BitQueue; 2],
    flags: [BitQueue; 3],
}

impl Slices {
    /// What a span reads of them.
    #[inline(always)]
    pub fn sources(&self) -> Sources<'_, BitQueue> {
        Sources {
            used: &self.used,
            sum: [&self.sum[0], &self.sum[1]],
            flags: [&self.flags[0], &self.flags[1], &self.flags[2]],
        }
    }

    /// The state with the right balance at heap `n`, given an estimate of the mex of the differences there.
    pub fn guess(&self, n: u64, near: u64) -> Option<Joint> {
        // Less those that upper positions occupy.
        let differences = |x: u64| {
            let at = self.flags[1].find(word_length(&DIFFERENCE), x)?;
            Some(x - 1 - first_from(&self.flags[1], at, [1, 1], x)?.1)
        };
        // The line of (0,0) is 0, which is no slot.
        let lines = |x: u64| Some(x - self.sum[0].rank(x.div_ceil(2))? - self.sum[1].rank(x / 2 + 1)?);
        let balance = guess::guess(n, near, 0..n, differences, lines)?;
        let unused = n - self.used.rank(n)?;
        Some(Joint::guess(n, &balance, unused.checked_sub(balance.lowers)?))
    }
}

/// From this heap on, all marks that a span reads were made before the span.
pub const START: u64 = 4 * SPAN as u64;

/// The state at [`START`], and the queues, which keep `shares` of the limit. Positions before it go to the sink.
pub fn start(input: &ProportionateNim, shares: [f64; 3], sink: &mut Positions) -> Result<(Queues, Joint), RunError> {
    let limit = input.limit();
    let n = START;
    let first = ProportionateNim { limit: 4 * n, ..input.clone() }.finding(Wanted::Positions);
    let mut before = window_certificate::run(&first, &Run::new(1))?.into_list();
    before.truncate(before.partition_point(|[a, _]| *a < n));

    let [mut used, mut difference, mut flags, mut even, mut odd, mut below] =
        [(); 6].map(|()| Tree::new(8 * START as usize));
    let mut uppers = 0;
    for &[a, b] in &before {
        if a + b <= limit {
            sink.push([a, b]);
        }
        let [a, b] = mapped([a, b], |heap| heap as usize);
        used.insert(b);
        difference.insert(b - a);
        let sum = 2 * b - a;
        if a % 2 == 0 {
            even.insert(sum / 2)
        } else {
            odd.insert(sum.div_ceil(2))
        }
        below.insert(sum);
        if b > 2 * a {
            flags.insert(a);
            uppers += 1;
        } else {
            below.insert(2 * a - b);
        }
    }

    let d = difference.first_free(0) as u64 & !7;
    let window = |lines: &Tree, at: u64| lines.window(at as usize);
    let from = [n + d - PAD as u64, d - PAD as u64, n / 2 + d - PAD as u64];
    // Bit `q` of a register in falling order is the line `top - q`.
    let falling = |top: u64| window(&below, top - 63).reverse_bits();
    let registers = Registers::Narrow(RegisterSet {
        used: window(&used, from[0]),
        difference: window(&difference, from[1]),
        twice: falling(n - d + PAD as u64),
        late: falling(n - d + (PAD + BLOCK) as u64),
        sum: [window(&even, from[2]), window(&odd, from[2])],
    });
    // The lower partners from the first word on that is not complete.
    let mut pending = 0;
    for [a, b] in &before {
        if *b <= 2 * a && *b >= (n + d) & !63 {
            pending += u128::from(*b);
        }
    }

    // The lines before an end: whole words, and what is left.
    let lines = |of: &Tree, end: u64| -> (Vec<u64>, u64) {
        let word = |word: u64| window(of, WORD as u64 * word);
        ((0..end / 64).map(word).collect(), word(end / 64) & !(u64::MAX << (end % 64)))
    };
    let [(used_words, used_partial), (even_words, even_partial), (odd_words, odd_partial), (flag_words, _)] =
        [lines(&used, n + d), lines(&even, n / 2 + d), lines(&odd, n / 2 + d), lines(&flags, n)];
    let mut queues = Queues::new(limit, shares, 8 * n);
    queues.append(&mut NewMarks { used: used_words, sum: [even_words, odd_words], flags: flag_words });
    let partial = [used_partial, even_partial, odd_partial];
    Ok((queues, Joint { n, d, uppers, pending, registers, partial }))
}
