//! The state between spans, the preparation of a span, and its settlement.

use super::inner::InnerLoops;
use super::marks::{DIFFERENCE, Reader, SUM, USED};
use super::row::SpanRow;
use super::span::{Cursor, SPAN, Span, WORDS};
use super::tape::{Pool, Tape};
use super::window::{BLOCK, PAD, Registers, Word, unpick};
use crate::bits::WORD;
use crate::cores::occupancy::Sink;
use crate::kernel::RunError;

/// Bits known beyond those that a span of the greatest growth reads.
pub const SLACK: u64 = 192;
/// Words of the reversed sums that a span may read again.
const KEPT_WORDS: usize = 16;

/// The state between spans.
pub struct Automaton {
    pub limit: u64,
    /// The first heap of the next span.
    pub n: u64,
    /// At most the mex of the differences, a multiple of eight.
    pub d: u64,
    /// Upper positions so far.
    pub uppers: u64,
    /// The sum of the lower partners that are not yet in whole words of the tape `used`.
    pub pending: u128,
    pub registers: Registers,
    /// Used heaps; occupied lines `2m - n` by parity (odd ones at `(2m - n + 1) / 2`); upper `n`.
    pub used: Tape,
    pub sum: [Tape; 2],
    pub flags: Tape,
    pub pool: Pool,
    pub upper_used: Reader<1>,
    pub upper_difference: Reader<1>,
    pub upper_sum: Reader<2>,
    /// One more than the word of `sum` in the first word of the row of reversed sums, and the free words before that.
    pub top: u64,
    pub room: usize,
    pub span: Box<Span>,
}

impl Automaton {
    /// Prepares the rows of the next span. `None` if a tape no longer has marks that it reads.
    #[inline(always)]
    pub fn prepare(&mut self, inner: impl InnerLoops) -> Option<()> {
        let Automaton { n, d, span, .. } = self;
        let span = &mut **span;
        let (n, d) = (*n, *d);
        let (pad, heaps) = (PAD as u64, SPAN as u64);
        let from = [n + d - pad, d - pad, n / 2 + d - pad];
        let to = [from[0] + 2 * heaps + SLACK, from[1] + heaps + SLACK, from[2] + heaps + heaps / 2 + SLACK];
        let passed = self.upper_used.read(&USED, &mut span.old.used, &self.flags, from[0], to[0], inner)?;
        span.new[0].drop_words(passed);
        self.upper_difference.read(&DIFFERENCE, &mut span.old.difference, &self.flags, from[1], to[1], inner)?;
        let passed = self.upper_sum.read(&SUM, &mut span.old.sum, &self.flags, from[2], to[2], inner)?;
        span.new[1..].iter_mut().for_each(|row| row.drop_words(passed));

        // The reversed sums: new words come in before the others.
        let top = (n - d + heaps + SLACK) / 64;
        if (top - self.top) as usize > self.room {
            let room = SpanRow::BITS / WORD - KEPT_WORDS;
            span.old.below.raise_words(room - self.room);
            self.room = room;
        }
        for word in self.top..top {
            self.room -= 1;
            // Lines from `64 word + 1` on, the first of which is odd.
            let [even, odd] = [self.sum[0].bits(32 * word + 1)?, self.sum[1].bits(32 * word + 1)?];
            span.old.below.store(8 * self.room, inner.interleave(odd, even).reverse_bits());
        }
        self.top = top;

        span.cursor = Cursor {
            used: (from[0] - self.upper_used.start) as usize / 8,
            difference: (from[1] - self.upper_difference.start) as usize / 8,
            sum: (from[2] - self.upper_sum.start) as usize / 8,
            below: (64 * top - (n - d + pad)) as usize / 8 + 8 * self.room,
        };
        span.heaps = *self.used.words(n as usize / WORD)?;
        for (used, blocks) in span.heaps.iter().zip(&mut span.blocks) {
            inner.open(*used, blocks);
        }

        self.used.release(n as usize / WORD, &mut self.pool);
        self.sum.iter_mut().for_each(|tape| tape.release((top / 2) as usize, &mut self.pool));
        self.flags.release(self.upper_difference.next(), &mut self.pool);
        Some(())
    }

    /// Runs the blocks of the prepared span.
    #[inline(always)]
    pub fn blocks(&mut self, inner: impl InnerLoops) -> Result<(), RunError> {
        self.span.blocks(&mut self.registers, inner)
    }

    /// The current value of [`Automaton::pending`].
    #[inline(always)]
    fn partners_pending(&self, inner: impl InnerLoops) -> u128 {
        let span = &self.span;
        let end = 8 * span.cursor.used + PAD;
        let (word, shift) = (end / WORD, end % WORD);
        // Marks in the registers, and in the last word of the row.
        let own = (self.registers.wide().used & !span.old::<u128>(span.cursor).used) >> PAD as u32;
        let partial = span.new[0].word(word) & !span.old.used[0].word(word) & !(u64::MAX << shift);
        let mut words = [0; WORDS];
        words[0] = partial | (own << shift).low();
        words[1] = (own << shift >> WORD).low();
        words[2] = (own >> 1 >> (127 - shift)).low();
        total(inner.sum_of_bits(&words), self.upper_used.start + (WORD * word) as u64)
    }

    /// Settles a span: positions into the sink, marks and flags onto the tapes.
    #[inline(always)]
    pub fn settle(&mut self, sink: &mut impl Sink, inner: impl InnerLoops) {
        let n = self.n;
        let start = self.upper_used.start;
        self.n = n + SPAN as u64;
        self.d = self.upper_difference.start + (8 * self.span.cursor.difference + PAD) as u64;

        let Span { heaps, blocks, new: [used, sums @ ..], old, cursor, .. } = &*self.span;
        let lower: [u64; WORDS] = std::array::from_fn(|i| inner.lower(&blocks[i]));
        let upper: [u64; WORDS] = std::array::from_fn(|i| !heaps[i] & !lower[i]);
        self.flags.extend(&upper, WORDS, &mut self.pool);

        // The sum of the partners, and whole words of marks onto the tapes.
        let mut partners = 0;
        let end = (8 * cursor.used + PAD) / WORD;
        for word in (self.used.end() - start as usize / WORD..end).step_by(WORDS) {
            let [marks, old] = [used, &old.used[0]].map(|row| row.words::<WORDS>(word));
            let count = WORDS.min(end - word);
            let new = std::array::from_fn(|i| if i < count { marks[i] & !old[i] } else { 0 });
            partners += total(inner.sum_of_bits(&new), start + (WORD * word) as u64);
            self.used.extend(&marks, count, &mut self.pool);
        }
        let sum_start = self.upper_sum.start as usize / WORD;
        let end = (8 * cursor.sum + PAD) / WORD;
        for (tape, row) in self.sum.iter_mut().zip(sums) {
            for word in (tape.end() - sum_start..end).step_by(WORDS) {
                tape.extend(&row.words::<WORDS>(word), WORDS.min(end - word), &mut self.pool);
            }
        }
        let pending = self.partners_pending(inner);
        let partners = partners + pending - self.pending;
        self.pending = pending;

        let uppers = self.uppers;
        let [new_uppers, upper_sum] = inner.sum_of_bits(&upper);
        self.uppers += new_uppers;
        let lower_inside = 2 * self.n + self.d + 128 <= self.limit;
        let upper_inside = 3 * self.n + self.uppers <= self.limit;
        let upper_outside = 3 * n + uppers >= self.limit;
        match sink.beams() {
            Some(tally) if lower_inside && (upper_inside || upper_outside) => {
                tally.lower.larger += partners;
                let lowers = inner.sum_of_bits(&lower);
                tally.lower.positions += lowers[0];
                tally.lower.smaller += total(lowers, n);
                if upper_inside {
                    // The numbers uppers + 1, ..., uppers + new_uppers.
                    tally.upper.larger += u128::from(new_uppers * uppers + new_uppers * (new_uppers + 1) / 2);
                    tally.upper.positions += new_uppers;
                    let smaller = total([new_uppers, upper_sum], n);
                    tally.upper.smaller += smaller;
                    tally.upper.larger += 2 * smaller;
                }
            }
            _ => self.push_each(sink, n, uppers, &lower),
        }
    }

    /// Pushes the positions of the span from `n` on one by one, given the `uppers` upper positions before it.
    #[inline(always)]
    fn push_each(&self, sink: &mut impl Sink, n: u64, uppers: u64, lower: &[u64; WORDS]) {
        let Span { heaps, blocks, begins, .. } = &*self.span;
        let is_set = |words: &[u64; WORDS], i: usize| words[i / WORD] >> (i % WORD) & 1 == 1;
        let mut k = uppers;
        for i in (0..SPAN).filter(|i| !is_set(heaps, *i)) {
            let a = n + i as u64;
            let b = if is_set(lower, i) {
                let pick = blocks.as_flattened()[i / BLOCK].picks[i % BLOCK];
                self.upper_used.start + 8 * begins[i / BLOCK] as u64 + unpick(pick)
            } else {
                k += 1;
                2 * a + k
            };
            if a + b <= self.limit {
                sink.push([a, b]);
            }
        }
    }
}

/// The sum of `count` numbers, given the sum of their excess over `at`.
#[inline(always)]
fn total([count, sum]: [u64; 2], at: u64) -> u128 {
    u128::from(count) * u128::from(at) + u128::from(sum)
}
