//! The registers and rows of the automaton, and how they pass a span, wherever the older marks come from.

use super::row::SpanRow;
use super::span::{Blocks, Cursor, SPAN, Span, WORDS};
use super::substitution::{Append, DIFFERENCE, Reader, SUM, USED};
use super::tape::BitString;
use super::window::{BLOCK, PAD, Registers, Window, Word, unpick};
use crate::kernel::RunError;
use crate::simd::array_of;
use crate::simd::bits::WORD;

/// Bits known beyond those that a span of the greatest growth reads.
const SLACK: u64 = 192;
/// Words of the reversed sums that a span may read again.
const KEPT_WORDS: usize = 16;

/// The bit strings that hold the older marks that a span reads.
pub struct Sources<'a, T> {
    /// Used heaps, read where the span is.
    pub used: &'a T,
    /// Occupied lines `2m - n` by parity (odd ones at `(2m - n + 1) / 2`), read backwards.
    pub sum: [&'a T; 2],
    /// Upper `n`, read where the rows used, difference and sum of the upper beam come from.
    pub flags: [&'a T; 3],
}

impl<T> Clone for Sources<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sources<'_, T> {}

/// The state between spans, without what was found before.
pub struct Engine {
    /// The first heap of the next span.
    pub n: u64,
    /// At most the mex of the differences, a multiple of eight.
    pub d: u64,
    pub registers: Registers,
    pub upper_used: Reader,
    pub upper_difference: Reader,
    pub upper_sum: Reader,
    /// One more than the word of `sum` in the first word of the row of reversed sums, and the free words before that.
    pub top: u64,
    pub room: usize,
    pub span: Box<Span>,
}

impl Engine {
    /// An engine that is at no heap yet, with the rows of a span: see [`Engine::jump`].
    pub fn new(span: Box<Span>) -> Self {
        Engine {
            n: 0,
            d: 0,
            registers: Registers::Wide(Window::default()),
            upper_used: Reader::default(),
            upper_difference: Reader::default(),
            upper_sum: Reader::default(),
            top: 0,
            room: 0,
            span,
        }
    }

    /// Prepares the rows of the next span, by functions like [`append_plain`] and [`plain::interleave`]. `None` if a source lacks marks
    /// that it reads.
    ///
    /// [`append_plain`]: super::substitution::append_plain
    /// [`plain::interleave`]: super::plain::interleave
    #[inline(always)]
    pub fn prepare(
        &mut self,
        sources: Sources<'_, impl BitString>,
        append: impl Append,
        interleave: impl Fn(u32, u32) -> u64,
    ) -> Option<()> {
        let Engine { n, d, span, .. } = self;
        let span = &mut **span;
        let (n, d) = (*n, *d);
        let (pad, heaps) = (PAD as u64, SPAN as u64);
        let [used, difference, sum] = sources.flags;
        let from = [n + d - pad, d - pad, n / 2 + d - pad];
        let to = [from[0] + 2 * heaps + SLACK, from[1] + heaps + SLACK, from[2] + heaps + heaps / 2 + SLACK];
        let passed = self.upper_used.read(&USED, &mut span.old.used, used, from[0], to[0], append)?;
        span.new[0].drop_words(passed);
        self.upper_difference.read(&DIFFERENCE, &mut span.old.difference, difference, from[1], to[1], append)?;
        let passed = self.upper_sum.read(&SUM, &mut span.old.sum, sum, from[2], to[2], append)?;
        for row in &mut span.new[1..] {
            row.drop_words(passed);
        }

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
            let [even, odd] = [sources.sum[0].bits(32 * word + 1)?, sources.sum[1].bits(32 * word + 1)?];
            span.old.below.store(8 * self.room, interleave(odd, even).reverse_bits());
        }
        self.top = top;

        span.cursor = Cursor {
            used: (from[0] - self.upper_used.start) as usize / 8,
            difference: (from[1] - self.upper_difference.start) as usize / 8,
            sum: (from[2] - self.upper_sum.start) as usize / 8,
            below: (64 * top - (n - d + pad)) as usize / 8 + 8 * self.room,
        };
        span.heaps = *sources.used.words(n as usize / WORD)?;
        Some(())
    }

    /// Runs the blocks of the prepared span, by functions like [`plain::open`](super::plain::open) and
    /// [`plain::blocks`](super::plain::blocks).
    #[inline(always)]
    pub fn blocks(
        &mut self,
        open: impl Fn(u64, &mut Blocks),
        narrow: impl Fn(&mut Span, &mut Window<u64>, usize) -> usize,
    ) -> Result<(), RunError> {
        for word in 0..WORDS {
            open(self.span.heaps[word], &mut self.span.blocks[word]);
        }
        self.span.blocks(&mut self.registers, narrow)
    }

    /// Passes on to the next span.
    #[inline(always)]
    pub fn pass(&mut self) {
        self.n += SPAN as u64;
        self.d = self.upper_difference.start + (8 * self.span.cursor.difference + PAD) as u64;
    }

    /// Which heaps of the last span have a lower partner, by a function like [`plain::lower`](super::plain::lower).
    #[inline(always)]
    pub fn lower(&self, lower: impl Fn(&Blocks) -> u64) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            *word = lower(&self.span.blocks[i]);
        }
        words
    }

    /// Which heaps of the last span have an upper partner, given which have a lower one.
    #[inline(always)]
    pub fn upper(&self, lower: &[u64; WORDS]) -> [u64; WORDS] {
        array_of(|i| !self.span.heaps[i] & !lower[i])
    }

    /// Goes to heap `n`, where the mex of the differences is `d` or more. `seeks` are words of the flags, even numbers,
    /// from which on the rows used, difference and sum are read, and the numbers of upper heaps before them. The
    /// registers stay as they are.
    pub fn jump(&mut self, n: u64, d: u64, seeks: [(usize, u64); 3]) {
        let span = &mut *self.span;
        self.upper_used = Reader::from_word(&USED, &mut span.old.used, seeks[0]);
        self.upper_difference = Reader::from_word(&DIFFERENCE, &mut span.old.difference, seeks[1]);
        self.upper_sum = Reader::from_word(&SUM, &mut span.old.sum, seeks[2]);
        self.start(n, d);
    }

    /// Starts at heap `n` with readers that are there, before any reversed sum is read.
    pub fn start(&mut self, n: u64, d: u64) {
        (self.n, self.d) = (n, d);
        (self.top, self.room) = ((n - d) / 64 - SLACK / 64, SpanRow::BITS / WORD);
    }

    /// The marks that this beam made itself in the words of the rows used and, by parity, sum that are not complete:
    /// for each row a word, and the bits of the register that follow, with the numbers of their first bits.
    pub fn own_incomplete(&self) -> [[(u128, u64); 2]; 3] {
        let Span { old, new, cursor, .. } = &*self.span;
        let own = self.own();
        let row = |at: usize, start: u64, new: &SpanRow, old: &SpanRow, own: u128| {
            let (word, shift) = ((8 * at + PAD) / WORD, (8 * at + PAD) % WORD);
            let partial = new.word(word) & !old.word(word) & !(u64::MAX << shift);
            let first = start + (WORD * word) as u64;
            [(partial.into(), first), (own >> PAD as u32, first + shift as u64)]
        };
        let [used, even, odd] = new;
        [
            row(cursor.used, self.upper_used.start, used, &old.used[0], own.used),
            row(cursor.sum, self.upper_sum.start, even, &old.sum[0], own.sum[0]),
            row(cursor.sum, self.upper_sum.start, odd, &old.sum[1], own.sum[1]),
        ]
    }

    /// What decides, with the old marks, how the run goes on.
    #[inline(always)]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { n: self.n, d: self.d, own: self.own(), late: self.all().late }
    }

    /// All marks in the registers.
    pub fn all(&self) -> Window<u128> {
        self.marks().with(self.span.old(self.span.cursor))
    }

    /// The registers in 128 bits. Further up `late` has what `twice` has.
    fn marks(&self) -> Window<u128> {
        let mut marks = self.registers.wide();
        marks.late |= marks.twice << BLOCK;
        marks
    }

    /// The marks of the last span that are complete, in whole words after the first `written` words of a row: of used heaps (0), or of
    /// sums by parity (1 and 2). `found(at, marks, count)` takes some words, the first `count` of which are meant, and the place of the
    /// first in the rows of the span. Returns the words of the row that are now complete.
    pub fn complete(&self, row: usize, written: usize, found: &mut dyn FnMut(usize, [u64; WORDS], usize)) -> usize {
        let cursor = self.span.cursor;
        let (start, cursor) =
            if row == 0 { (self.upper_used.start, cursor.used) } else { (self.upper_sum.start, cursor.sum) };
        let (start, end) = (start as usize / WORD, (8 * cursor + PAD) / WORD);
        let mut at = written - start;
        while at < end {
            found(at, self.span.new[row].words(at), WORDS.min(end - at));
            at += WORDS;
        }
        start + end
    }

    /// The marks in the registers that this beam made itself: bit `PAD + i` of `used`, `difference` and `sum` is as in
    /// [`Window`]; bit `q` of `late` is the line `m - 2n = -(n - d + PAD + BLOCK - q)`.
    pub fn own(&self) -> Window<u128> {
        self.marks().without(self.span.old(self.span.cursor))
    }

    /// What [`Engine::positions`] decodes as the partner of a lower heap of the last span.
    #[inline(always)]
    pub fn pick(&self, heap: usize) -> u64 {
        self.span.blocks.as_flattened()[heap / BLOCK].picks[heap % BLOCK]
    }

    /// The positions of the last span, given the number of upper ones before it, which heaps have a lower partner, and
    /// the pick of each of these.
    #[inline(always)]
    pub fn positions(
        &self,
        uppers: u64,
        lower: &[u64; WORDS],
        pick: impl Fn(usize) -> u64,
    ) -> impl Iterator<Item = [u64; 2]> {
        let Span { heaps, begins, .. } = &*self.span;
        let (n, start, mut k) = (self.n - SPAN as u64, self.upper_used.start, uppers);
        (0..SPAN).filter(move |i| !is_set(heaps, *i)).map(move |i| {
            let a = n + i as u64;
            let b = if is_set(lower, i) {
                start + 8 * begins[i / BLOCK] as u64 + unpick(pick(i))
            } else {
                k += 1;
                2 * a + k
            };
            [a, b]
        })
    }
}

/// The marks of an engine between two spans.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    n: u64,
    d: u64,
    own: Window<u128>,
    late: u128,
}

impl Snapshot {
    /// Whether both are at the same heap with the same marks, though `d` may differ. Two such runs remain equal.
    #[inline(always)]
    pub fn agrees(&self, other: &Snapshot) -> bool {
        let [low, high] = if self.d <= other.d { [self, other] } else { [other, self] };
        let by = high.d - low.d;
        if low.n != high.n || by >= 64 {
            return false;
        }
        let by = by as u32;
        let [a, b] = [&low.own, &high.own];
        a.used >> by == b.used
            && a.difference >> by == b.difference
            && a.sum[0] >> by == b.sum[0]
            && a.sum[1] >> by == b.sum[1]
            && low.late.shift_signed(by) == high.late
    }
}

/// Bit `i`.
#[inline(always)]
pub fn is_set(words: &[u64; WORDS], i: usize) -> bool {
    words[i / WORD] >> (i % WORD) & 1 == 1
}
