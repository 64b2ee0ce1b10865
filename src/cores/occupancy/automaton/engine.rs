//! Spans of heaps, and the engine: the registers and rows of the automaton, and how they pass a span, wherever the older marks come from.

use super::bit_queue::BitString;
use super::block::{BLOCK, Block, PAD, RegisterSet, Registers, SpanRow, Word, unpick};
use super::upper_beam::{Append, DIFFERENCE, Reader, SUM, USED};
use crate::kernel::RunError;
use crate::simd::array_of;
use crate::simd::bits::WORD;

/// Heaps in a span.
pub const SPAN: usize = 512;
/// Blocks in a span.
pub const BLOCKS: usize = SPAN / BLOCK;
/// Words of a span.
pub const WORDS: usize = SPAN / WORD;

/// The blocks of 64 heaps.
pub type Blocks = [Block; WORD / BLOCK];

/// Marks of older positions.
pub struct OldMarks {
    pub used: [SpanRow; 1],
    pub difference: [SpanRow; 1],
    /// By parity.
    pub sum: [SpanRow; 2],
    /// `sum` backwards.
    pub below: SpanRow,
}

/// The rows of a span, and the results of its blocks.
pub struct Span {
    pub old: OldMarks,
    /// Complete marks, `used` and `sum` by parity, aligned with the old ones.
    pub new: [SpanRow; 3],
    pub blocks: [Blocks; WORDS],
    /// Which heaps are used.
    pub heaps: [u64; WORDS],
    /// Where each block's register begins in the row `used`.
    pub begins: [usize; BLOCKS],
    /// Where the next block's registers begin in the rows.
    pub cursor: Cursor,
    pub spill: Spill,
}

/// Values for which a kernel in assembly has no register while its blocks run.
#[derive(Default)]
pub struct Spill {
    /// The next block.
    pub block: usize,
    /// Its [`RegisterSet::late`].
    pub late: u64,
}

/// The byte of each row that holds bit 0 of the registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    pub used: usize,
    pub difference: usize,
    pub sum: usize,
    pub below: usize,
}

impl Cursor {
    /// Whether the rows hold the registers before and after each block of a span from here, however much `d` grows: it
    /// grows at most as fast as heaps pass.
    pub fn is_roomy(self) -> bool {
        const HEAPS: usize = SPAN / 8;
        const BYTES: usize = SpanRow::BITS / 8;
        let Cursor { used, difference, sum, below } = self;
        [used, difference, sum].iter().all(|at| *at <= BYTES - 2 * HEAPS)
            && (HEAPS + BLOCK / 8..=BYTES - 2 * BLOCK / 2).contains(&below)
    }

    /// The cursor after `blocks` blocks in which `d` grew by `grown` bytes in all.
    #[inline(always)]
    pub fn after(self, blocks: usize, grown: usize) -> Cursor {
        Cursor {
            used: self.used + BLOCK / 8 * blocks + grown,
            difference: self.difference + grown,
            sum: self.sum + BLOCK / 16 * blocks + grown,
            below: self.below + grown - BLOCK / 8 * blocks,
        }
    }
}

impl Span {
    /// Empty rows.
    pub fn new() -> Box<Self> {
        Box::new(Span {
            old: OldMarks {
                used: [SpanRow::new()],
                difference: [SpanRow::new()],
                sum: [const { SpanRow::new() }; 2],
                below: SpanRow::new(),
            },
            new: [const { SpanRow::new() }; 3],
            blocks: [const { [const { Block::new() }; WORD / BLOCK] }; WORDS],
            heaps: [0; WORDS],
            begins: [0; BLOCKS],
            cursor: Cursor::default(),
            spill: Spill::default(),
        })
    }

    /// Runs blocks from `block` on while they are exact in registers of type `W`, until `stop(span, cursor, marks)` is
    /// true before a block other than the first. Returns the first block that did not run.
    #[inline(always)]
    pub fn run<W: Word>(
        &mut self,
        window: &mut RegisterSet<W>,
        mut block: usize,
        stop: impl Fn(&Self, Cursor, &RegisterSet<W>) -> bool,
    ) -> usize {
        let (start, first, mut grown) = (self.cursor, block, 0);
        let mut registers = *window;
        while block < BLOCKS {
            let cursor = start.after(block - first, grown);
            let mut marks = registers.with(self.old(cursor));
            if !marks.is_exact() || block > first && stop(self, cursor, &marks) {
                break;
            }
            let growth = marks.steps(&mut self.blocks.as_flattened_mut()[block]);
            self.begins[block] = cursor.used;
            self.keep(cursor, &marks);
            registers = marks.next(growth);
            grown += growth as usize / 8;
            block += 1;
        }
        self.cursor = start.after(block - first, grown);
        *window = registers;
        block
    }

    /// Runs one block in 128 bits, given the registers with old marks, and which heaps are used. Returns the registers
    /// after it in 64 bits, how far `d` grew, and the picks; `None` if it is too wide.
    #[cold]
    pub fn wide_block(
        &mut self,
        cursor: Cursor,
        window: RegisterSet<u128>,
        used: u16,
    ) -> Option<(RegisterSet<u64>, u32, [u64; BLOCK])> {
        let mut marks = window.with(self.old(cursor));
        if !marks.is_exact() {
            return None;
        }
        let mut block = Block::new();
        for (j, open) in block.open.iter_mut().enumerate() {
            *open = (u64::from(used) >> j & 1).wrapping_sub(1) & u64::MAX << (PAD + j);
        }
        let growth = marks.steps(&mut block);
        self.keep(cursor, &marks);
        let next = marks.next(growth);
        let old = self.old(cursor.after(1, growth as usize / 8));
        Some((next.cut(&old)?, growth, block.picks))
    }

    /// The old marks at registers that begin at `cursor`.
    #[inline(always)]
    pub fn old<W: Word>(&self, cursor: Cursor) -> RegisterSet<W> {
        let OldMarks { used: [used], difference: [difference], sum: [even, odd], below } = &self.old;
        RegisterSet {
            used: W::load(used, cursor.used),
            difference: W::load(difference, cursor.difference),
            twice: W::load(below, cursor.below),
            late: W::load(below, cursor.below - BLOCK / 8),
            sum: [W::load(even, cursor.sum), W::load(odd, cursor.sum)],
        }
    }

    /// Keeps the complete marks of a block, given the registers after its steps.
    ///
    /// This writes the marks above them as well; the next block overwrites those. The sums have moved up by half a
    /// block.
    #[inline(always)]
    fn keep<W: Word>(&mut self, cursor: Cursor, marks: &RegisterSet<W>) {
        self.new[0].store(cursor.used, marks.used.low());
        for (parity, sum) in marks.sum.into_iter().enumerate() {
            self.new[1 + parity].store(cursor.sum, (sum >> (BLOCK / 2) as u32).low());
        }
    }
}

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
            registers: Registers::Wide(RegisterSet::default()),
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
    /// [`append_plain`]: super::upper_beam::append_plain
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
        narrow: impl Fn(&mut Span, &mut RegisterSet<u64>, usize) -> usize,
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
    pub fn all(&self) -> RegisterSet<u128> {
        self.marks().with(self.span.old(self.span.cursor))
    }

    /// The registers in 128 bits. Further up `late` has what `twice` has.
    fn marks(&self) -> RegisterSet<u128> {
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
    /// [`RegisterSet`]; bit `q` of `late` is the line `m - 2n = -(n - d + PAD + BLOCK - q)`.
    pub fn own(&self) -> RegisterSet<u128> {
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
    own: RegisterSet<u128>,
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
