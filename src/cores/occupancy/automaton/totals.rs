//! The state between spans of a run over all heaps, and the end of a span.

use super::bit_queue::{BitQueue, NewMarks, extend};
use super::block::{PAD, Registers, Word};
use super::engine::{Engine, Sources, is_set};
use super::engine::{SPAN, Span, WORDS};
use super::guess::SlotBalance;
use super::plain::Loops;
use super::upper_beam::{DIFFERENCE, Reader, SUM, USED};
use crate::cores::occupancy::{Beam, Positions};
use crate::simd::bits::WORD;
use crate::simd::mapped;

/// A joint: all that a run from some heap on depends on, besides the queues. If two runs are in the same state at a joint, everything
/// that they find from there on is the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// The first heap after the joint.
    pub n: u64,
    /// At most the mex of the differences, a multiple of eight.
    pub d: u64,
    /// Upper positions so far.
    pub uppers: u64,
    /// The sum of the lower partners that are not yet in whole words of the queue `used`.
    pub pending: u128,
    pub registers: Registers,
    /// The marks below the first candidate in its word, for `used` and for `sum` by parity: this word is not on the
    /// queue yet.
    pub partial: [u64; 3],
}

impl Joint {
    /// A guess at heap `n`: see [`Registers::guess`].
    pub fn guess(n: u64, balance: &SlotBalance, uppers: u64) -> Self {
        let (d, registers) = Registers::guess(n, balance);
        Joint { n, d, uppers, pending: 0, registers, partial: [0; 3] }
    }

    /// The lines of the first candidate: used, and sum by parity. All marks before these are complete.
    pub fn ends(&self) -> [u64; 2] {
        [self.n + self.d, self.n / 2 + self.d]
    }

    /// The words of complete marks: used, and sum by parity.
    pub fn written(&self) -> [usize; 2] {
        mapped(self.ends(), |line| line as usize / WORD)
    }
}

/// The state between spans.
pub struct Automaton {
    pub limit: u64,
    pub engine: Engine,
    /// Upper positions so far.
    pub uppers: u64,
    /// The sum of the lower partners that are not yet in whole words of the queue `used`.
    pub pending: u128,
    /// Marks in whole words that are not on the queues yet.
    pub new: NewMarks,
    /// The words of the queues `used` and `sum`, with those in `new`.
    pub written: [usize; 2],
}

impl Automaton {
    /// Continues at a joint, in the rows of a span that is not needed any more. `None` if the queues do not have the
    /// marks that are read there.
    pub fn at(limit: u64, joint: &Joint, queues: Sources<'_, BitQueue>, span: Box<Span>) -> Option<Self> {
        let Joint { n, d, uppers, pending, registers, .. } = *joint;
        // The first lines in the registers.
        let from = mapped([n + d, d, n / 2 + d], |line| line - PAD as u64);
        let mut engine = Engine::new(span);
        engine.registers = registers;
        let Span { old, new, .. } = &mut *engine.span;
        engine.upper_used = Reader::at(&USED, &mut old.used, queues.flags[0], from[0])?;
        engine.upper_difference = Reader::at(&DIFFERENCE, &mut old.difference, queues.flags[1], from[1])?;
        engine.upper_sum = Reader::at(&SUM, &mut old.sum, queues.flags[2], from[2])?;
        // The rows of new marks start where the readers start.
        let starts = [engine.upper_used.start, engine.upper_sum.start];
        let written = joint.written();
        for (i, row) in new.iter_mut().enumerate() {
            let of = i.min(1);
            row.store(8 * (written[of] - starts[of] as usize / WORD), joint.partial[i]);
        }
        engine.start(n, d);
        Some(Automaton { limit, engine, uppers, pending, new: NewMarks::default(), written })
    }

    /// Whether no position from here on is within the limit.
    pub fn is_past_limit(&self) -> bool {
        2 * self.engine.n + self.engine.d > self.limit
    }

    /// The state after a span.
    pub fn joint(&self) -> Joint {
        let Automaton { uppers, pending, ref engine, .. } = *self;
        let Engine { n, d, ref span, .. } = *engine;
        // With the old marks, and in narrow registers if these hold all marks: kernels differ in both.
        let old = span.old(span.cursor);
        let registers = match engine.registers {
            Registers::Narrow(window) => Registers::Narrow(window.with(span.old(span.cursor))),
            Registers::Wide(window) => window.with(old).cut(&old).map_or(Registers::Wide(window), Registers::Narrow),
        };
        let mut joint = Joint { n, d, uppers, pending, registers, partial: [0; 3] };
        let ends = joint.ends();
        let starts = [engine.upper_used.start, engine.upper_sum.start];
        for (i, row) in span.new.iter().enumerate() {
            let of = i.min(1);
            joint.partial[i] = row.word((ends[of] - starts[of]) as usize / WORD) & !(u64::MAX << (ends[of] % 64));
        }
        joint
    }

    /// The current value of [`Automaton::pending`].
    fn partners_pending(&self, loops: &Loops) -> u128 {
        let Engine { span, registers, upper_used, .. } = &self.engine;
        let end = 8 * span.cursor.used + PAD;
        let (word, shift) = (end / WORD, end % WORD);
        // Marks in the registers, and in the last word of the row.
        let own = (registers.wide().used & !span.old::<u128>(span.cursor).used) >> PAD as u32;
        let partial = span.new[0].word(word) & !span.old.used[0].word(word) & !(u64::MAX << shift);
        let mut words = [0; WORDS];
        words[0] = partial | (own << shift).low();
        words[1] = (own << shift >> WORD).low();
        words[2] = (own >> 1 >> (127 - shift)).low();
        total((loops.sum_of_bits)(&words), upper_used.start + (WORD * word) as u64)
    }

    /// Finishes a span: positions into the sink, marks and flags into the lists of new ones.
    pub fn finish(&mut self, sink: &mut Positions, loops: &Loops) {
        let lower = (loops.lower)(&self.engine);
        self.finish_lower(&lower, &Engine::pick, sink, loops);
    }

    /// [`Automaton::finish`], given which heaps have a lower partner, and the pick of each.
    pub fn finish_lower(
        &mut self,
        lower: &[u64; WORDS],
        pick: &dyn Fn(&Engine, usize) -> u64,
        sink: &mut Positions,
        loops: &Loops,
    ) {
        self.engine.pass();
        let upper = self.engine.upper(lower);
        let partners = self.append_marks(&upper, loops);
        let (limit, next, k) = (self.limit, self.engine.n, self.uppers);
        let n = next - SPAN as u64;
        let [uppers, upper_sum] = (loops.sum_of_bits)(&upper);
        self.uppers += uppers;
        match sink.totals_alone() {
            // All lower positions of the span are within the limit.
            Some(totals) if 2 * next + self.engine.d + 128 <= limit => {
                let lowers = (loops.sum_of_bits)(lower);
                totals.lower.add(Beam { positions: lowers[0], smaller: total(lowers, n), larger: partners });
                if 3 * next + self.uppers <= limit {
                    let smaller = total([uppers, upper_sum], n);
                    // The numbers k + 1, ..., k + uppers.
                    let numbers = uppers * k + uppers * (uppers + 1) / 2;
                    totals.upper.add(Beam { positions: uppers, smaller, larger: 2 * smaller + u128::from(numbers) });
                } else if 3 * n + k < limit {
                    for (i, k) in (0..SPAN).filter(|i| is_set(&upper, *i)).zip(k + 1..) {
                        let a = n + i as u64;
                        if 3 * a + k <= limit {
                            sink.push([a, 2 * a + k]);
                        }
                    }
                }
            }
            _ => {
                for [a, b] in self.engine.positions(k, lower, |heap| pick(&self.engine, heap)) {
                    if a + b <= limit {
                        sink.push([a, b]);
                    }
                }
            }
        }
    }

    /// Appends the flags of a span, and the marks that are complete in whole words. Returns the sum of the lower partners.
    fn append_marks(&mut self, upper: &[u64; WORDS], loops: &Loops) -> u128 {
        let Automaton { engine, new, written, .. } = self;
        extend(&mut new.flags, upper, WORDS);
        let (start, mut partners) = (engine.upper_used.start, 0);
        written[0] = engine.complete(0, written[0], &mut |at, marks, count| {
            let mut found = engine.span.old.used[0].words::<WORDS>(at);
            for (i, old) in found.iter_mut().enumerate() {
                *old = if i < count { marks[i] & !*old } else { 0 };
            }
            partners += total((loops.sum_of_bits)(&found), start + (WORD * at) as u64);
            extend(&mut new.used, &marks, count);
        });
        let [even, odd] = &mut new.sum;
        engine.complete(1, written[1], &mut |_, marks, count| extend(even, &marks, count));
        written[1] = engine.complete(2, written[1], &mut |_, marks, count| extend(odd, &marks, count));
        let pending = self.partners_pending(loops);
        let partners = partners + pending - self.pending;
        self.pending = pending;
        partners
    }
}

/// The sum of `count` numbers, given the sum of their excess over `at`.
#[inline(always)]
fn total([count, sum]: [u64; 2], at: u64) -> u128 {
    u128::from(count) * u128::from(at) + u128::from(sum)
}
