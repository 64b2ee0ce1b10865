//! The state between spans, the preparation of a span, and its settlement.

use super::inner::InnerLoops;
use super::joint::Joint;
use super::marks::{DIFFERENCE, Reader, SUM, USED};
use super::row::SpanRow;
use super::span::{Blocks, Cursor, SPAN, Span, WORDS};
use super::tape::extend;
use super::tapes::{Marks, Old};
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
    /// Marks in whole words that are not on the tapes yet.
    pub new: Marks,
    /// The words of the tapes `used` and `sum`, with those in `new`.
    pub written: [usize; 2],
    pub upper_used: Reader<1>,
    pub upper_difference: Reader<1>,
    pub upper_sum: Reader<2>,
    /// One more than the word of `sum` in the first word of the row of reversed sums, and the free words before that.
    pub top: u64,
    pub room: usize,
    pub span: Box<Span>,
}

impl Automaton {
    /// Continues at a joint, in the rows of a span that is not needed any more. `None` if the tapes do not have the
    /// marks that are read there.
    pub fn at(limit: u64, joint: &Joint, old: Old<'_>, mut span: Box<Span>) -> Option<Self> {
        let Joint { n, d, uppers, pending, registers, .. } = *joint;
        let from = joint.registers_begin();
        // The rows of new marks start where the readers start.
        let upper_used = Reader::at(&USED, &mut span.old.used, old.flags[0], from[0])?;
        let upper_difference = Reader::at(&DIFFERENCE, &mut span.old.difference, old.flags[1], from[1])?;
        let upper_sum = Reader::at(&SUM, &mut span.old.sum, old.flags[2], from[2])?;
        let written = joint.written();
        let words = [written[0], written[1], written[1]];
        let starts = [upper_used.start, upper_sum.start, upper_sum.start];
        for (((row, word), start), partial) in span.new.iter_mut().zip(words).zip(starts).zip(joint.partial) {
            row.store(8 * (word - start as usize / WORD), partial);
        }
        Some(Automaton {
            limit,
            n,
            d,
            uppers,
            pending,
            registers,
            new: Marks::default(),
            written,
            upper_used,
            upper_difference,
            upper_sum,
            top: (n - d) / 64 - SLACK / 64,
            room: SpanRow::BITS / WORD,
            span,
        })
    }

    /// Whether no position from here on is within the limit.
    pub fn is_past_limit(&self) -> bool {
        2 * self.n + self.d > self.limit
    }

    /// The state after a span.
    pub fn joint(&self) -> Joint {
        let Automaton { n, d, uppers, pending, ref span, .. } = *self;
        // Old marks come in now, and narrow registers if they hold all: kernels differ in that.
        let old = span.old(span.cursor);
        let registers = match self.registers {
            Registers::Narrow(window) => Registers::Narrow(window.with(span.old(span.cursor))),
            Registers::Wide(window) => window.with(old).cut(&old).map_or(Registers::Wide(window), Registers::Narrow),
        };
        let mut joint = Joint { n, d, uppers, pending, registers, partial: [0; 3] };
        let ends = joint.ends();
        let rows = self.span.new.iter().zip([ends[0], ends[1], ends[1]]);
        let starts = [self.upper_used.start, self.upper_sum.start, self.upper_sum.start];
        for (((row, end), start), partial) in rows.zip(starts).zip(&mut joint.partial) {
            *partial = row.word((end - start) as usize / WORD) & !(u64::MAX << (end % 64));
        }
        joint
    }

    /// Prepares the rows of the next span. `None` if a tape does not have marks that it reads; this ends the run.
    #[inline(always)]
    pub fn prepare(&mut self, old: Old<'_>, inner: impl InnerLoops) -> Option<()> {
        let Automaton { n, d, span, .. } = self;
        let span = &mut **span;
        let (n, d) = (*n, *d);
        let (pad, heaps) = (PAD as u64, SPAN as u64);
        let from = [n + d - pad, d - pad, n / 2 + d - pad];
        let to = [from[0] + 2 * heaps + SLACK, from[1] + heaps + SLACK, from[2] + heaps + heaps / 2 + SLACK];
        let passed = self.upper_used.read(&USED, &mut span.old.used, old.flags[0], from[0], to[0], inner)?;
        span.new[0].drop_words(passed);
        self.upper_difference.read(&DIFFERENCE, &mut span.old.difference, old.flags[1], from[1], to[1], inner)?;
        let passed = self.upper_sum.read(&SUM, &mut span.old.sum, old.flags[2], from[2], to[2], inner)?;
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
            let [even, odd] = [old.sum[0].bits(32 * word + 1)?, old.sum[1].bits(32 * word + 1)?];
            span.old.below.store(8 * self.room, inner.interleave(odd, even).reverse_bits());
        }
        self.top = top;

        span.cursor = Cursor {
            used: (from[0] - self.upper_used.start) as usize / 8,
            difference: (from[1] - self.upper_difference.start) as usize / 8,
            sum: (from[2] - self.upper_sum.start) as usize / 8,
            below: (64 * top - (n - d + pad)) as usize / 8 + 8 * self.room,
        };
        span.heaps = *old.used.words(n as usize / WORD)?;
        Some(())
    }

    /// Runs the blocks of the prepared span.
    #[inline(always)]
    pub fn blocks(&mut self, inner: impl InnerLoops) -> Result<(), RunError> {
        let Span { heaps, blocks, .. } = &mut *self.span;
        for (used, blocks) in heaps.iter().zip(blocks) {
            inner.open(*used, blocks);
        }
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

    /// Settles a span: positions into the sink, marks and flags into the lists of new ones.
    #[inline(always)]
    pub fn settle(&mut self, sink: &mut impl Sink, inner: impl InnerLoops) {
        let lower = std::array::from_fn(|i| inner.lower(&self.span.blocks[i]));
        self.settle_lower(&lower, |blocks, i| blocks.as_flattened()[i / BLOCK].picks[i % BLOCK], sink, inner);
    }

    /// [`Automaton::settle`], given which heaps have a lower partner, and a function for the partner of each.
    #[inline(always)]
    pub fn settle_lower(
        &mut self,
        lower: &[u64; WORDS],
        pick: impl Fn(&[Blocks; WORDS], usize) -> u64,
        sink: &mut impl Sink,
        inner: impl InnerLoops,
    ) {
        let n = self.n;
        let start = self.upper_used.start;
        self.n = n + SPAN as u64;
        self.d = self.upper_difference.start + (8 * self.span.cursor.difference + PAD) as u64;

        let Span { heaps, new: [used, sums @ ..], old, cursor, .. } = &*self.span;
        let upper: [u64; WORDS] = std::array::from_fn(|i| !heaps[i] & !lower[i]);
        extend(&mut self.new.flags, &upper, WORDS);

        // The sum of the partners, and whole words of marks.
        let mut partners = 0;
        let end = (8 * cursor.used + PAD) / WORD;
        for word in (self.written[0] - start as usize / WORD..end).step_by(WORDS) {
            let [marks, old] = [used, &old.used[0]].map(|row| row.words::<WORDS>(word));
            let count = WORDS.min(end - word);
            let new = std::array::from_fn(|i| if i < count { marks[i] & !old[i] } else { 0 });
            partners += total(inner.sum_of_bits(&new), start + (WORD * word) as u64);
            extend(&mut self.new.used, &marks, count);
        }
        self.written[0] = start as usize / WORD + end;
        let sum_start = self.upper_sum.start as usize / WORD;
        let end = (8 * cursor.sum + PAD) / WORD;
        for (list, row) in self.new.sum.iter_mut().zip(sums) {
            for word in (self.written[1] - sum_start..end).step_by(WORDS) {
                extend(list, &row.words::<WORDS>(word), WORDS.min(end - word));
            }
        }
        self.written[1] = sum_start + end;
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
            Some(tally) if lower_inside => {
                tally.lower.larger += partners;
                let lowers = inner.sum_of_bits(lower);
                tally.lower.positions += lowers[0];
                tally.lower.smaller += total(lowers, n);
                if upper_inside {
                    // The numbers uppers + 1, ..., uppers + new_uppers.
                    tally.upper.larger += u128::from(new_uppers * uppers + new_uppers * (new_uppers + 1) / 2);
                    tally.upper.positions += new_uppers;
                    let smaller = total([new_uppers, upper_sum], n);
                    tally.upper.smaller += smaller;
                    tally.upper.larger += 2 * smaller;
                } else if !upper_outside {
                    let set = (n..).zip(0..SPAN).filter(|(_, i)| is_set(&upper, *i));
                    for ((a, _), k) in set.zip(uppers + 1..).filter(|((a, _), k)| 3 * a + k <= self.limit) {
                        sink.push([a, 2 * a + k]);
                    }
                }
            }
            _ => self.push_each(sink, n, uppers, lower, pick),
        }
    }

    /// Pushes the positions of the span from `n` on one by one, given the `uppers` upper positions before it.
    #[inline(always)]
    fn push_each(
        &self,
        sink: &mut impl Sink,
        n: u64,
        uppers: u64,
        lower: &[u64; WORDS],
        pick: impl Fn(&[Blocks; WORDS], usize) -> u64,
    ) {
        let Span { heaps, blocks, begins, .. } = &*self.span;
        let mut k = uppers;
        for i in (0..SPAN).filter(|i| !is_set(heaps, *i)) {
            let a = n + i as u64;
            let b = if is_set(lower, i) {
                self.upper_used.start + 8 * begins[i / BLOCK] as u64 + unpick(pick(blocks, i))
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

/// Bit `i`.
#[inline(always)]
fn is_set(words: &[u64; WORDS], i: usize) -> bool {
    words[i / WORD] >> (i % WORD) & 1 == 1
}

/// The sum of `count` numbers, given the sum of their excess over `at`.
#[inline(always)]
fn total([count, sum]: [u64; 2], at: u64) -> u128 {
    u128::from(count) * u128::from(at) + u128::from(sum)
}
