//! The streaming register automaton: the driver of the `automaton` kernels.
//!
//! Heaps `n` are visited in order. The certificate leaves so few candidates `m` that one register holds them all, with the marks
//! of each row: *used*, *difference*, *twice* and two rows of *sum*, one for each parity of `n`. A step ORs four registers, takes
//! the lowest zero, and marks it in each; then the registers move against each other by fixed amounts. A block is sixteen
//! steps; its bit `PAD + i` is the candidate `n + d + i`, where `d` is at most the mex of the differences and grows from block to
//! block, by whole bytes: so registers lie at whole bytes of the rows, and reading old marks is one instruction. If no register
//! bit is zero the position is an upper one, and nothing else needs to be known about it.
//!
//! Older marks come in as streams, in the order of their lines:
//! - what the lower beam marked leaves the registers at the bottom, in order, onto *tapes*; `used` is read again as "is `n` used"
//!   and the sums, backwards, as the mirrored half of *twice*;
//! - what the upper beam marked is a function of one flag a heap, "`n` is upper", and made from a tape of those flags when it is
//!   needed ([`marks`]). So memory is three bit strings between their readers and writers: less than `0.05 M` bytes.
//!
//! The driver prepares the rows of a *span* in the first-level cache, lets a kernel run the blocks, and settles: totals by bit
//! counts, flags and marks onto the tapes.
//!
//! # Wide windows
//! A block is exact in 64-bit registers if the highest free bit of *twice* is low enough at its start ([`Word::REACH`]). The few
//! that are not are done in 128-bit registers, until all marks fit again. Were even those too narrow the run would end with
//! [`Stop::Overflow`], never with a wrong answer: they hold 87 candidates from `n + d` on, and no window wider than 49 was seen up to
//! 1e10.

mod marks;
mod row;
mod tape;
mod window;

pub use marks::Family;
use marks::{Difference, Reader, Sum, Used};
pub use row::Row;
use tape::{Pool, Tape};
use window::unpick;
pub use window::{BLOCK, Block, PAD, Window, Word, growth};

use super::window_certificate;
use super::{Positions, ProportionateNim, Sink};
use crate::bits::WORD;
use crate::kernel::{Cost, Run, Stop};

/// Cycles of the serial chain a P-position: four a step, and a step for each smaller heap, of which there are about seven
/// for four positions (observed).
pub const CHAIN: f64 = 4.0 * 1.75;

/// Heaps in a span.
pub const SPAN: usize = 512;
/// Blocks in a span.
pub const BLOCKS: usize = SPAN / BLOCK;
/// Words of a span.
pub const WORDS: usize = SPAN / WORD;

/// The blocks of 64 heaps.
pub type Blocks = [Block; WORD / BLOCK];

/// Where the automaton starts: from here on all marks that a span reads were made before the span.
const START: u64 = 4 * SPAN as u64;
/// Bits that are known past those that a span of the greatest growth reads.
const SLACK: u64 = 192;
/// Words of the sums backwards that a span may read again.
const KEPT: usize = 16;

/// What a kernel of this family may do in its own way; plain Rust if it does not. A trait, because a closure or a function passed
/// by name is not always inlined, and out of line it would be compiled for the build's target instead of the kernel's tier.
pub trait Inner: Sized {
    /// [`Window::steps`].
    #[inline(always)]
    fn steps(window: &mut Window<u64>, block: &mut Block) -> u32 {
        window.steps(block)
    }
    /// Runs the blocks of a span from `block` on while they are exact in 64-bit registers; returns the first that is not.
    #[inline(always)]
    fn blocks(span: &mut Span, window: &mut Window<u64>, block: usize) -> usize {
        span.narrow_blocks::<Self>(window, block)
    }
    /// Opens the candidates of 64 heaps, but none of those that are used.
    #[inline(always)]
    fn open(used: u64, blocks: &mut Blocks) {
        for (i, block) in blocks.iter_mut().enumerate() {
            for (j, open) in block.open.iter_mut().enumerate() {
                *open = (used >> (BLOCK * i + j) & 1).wrapping_sub(1) & u64::MAX << (PAD + j);
            }
        }
    }
    /// Which of 64 heaps have a lower partner.
    #[inline(always)]
    fn lower(blocks: &Blocks) -> u64 {
        let nonzero = |words: &[u64; BLOCK]| words.iter().rev().fold(0, |mask, word| mask << 1 | u64::from(*word != 0));
        blocks.iter().rev().fold(0, |word, block| word << BLOCK | nonzero(&block.picks))
    }
    /// How many bits are set, and the sum of their numbers.
    #[inline(always)]
    fn sum_of_bits(words: &[u64; WORDS]) -> [u64; 2] {
        let mut total = [0; 2];
        for (i, word) in words.iter().enumerate() {
            let [count, sum] = sum_of_bits(*word);
            total = [total[0] + count, total[1] + sum + count * (WORD * i) as u64];
        }
        total
    }
    /// What sixteen flags become.
    #[inline(always)]
    fn substitute<F: Family<ROWS>, const ROWS: usize>(flags: u16) -> [u64; ROWS] {
        let [a, b] = flags.to_le_bytes();
        let [low, high] = [a, b].map(|flags| F::IMAGES[usize::from(flags)]);
        let first = F::LENGTH / 2 + a.count_ones();
        std::array::from_fn(|row| u64::from(low[row]) | u64::from(high[row]) << first)
    }
    /// A word whose even bits are `even` and whose odd bits are `odd`.
    #[inline(always)]
    fn interleave(even: u32, odd: u32) -> u64 {
        let spread = |half: u32| {
            [
                (16, 0x0000_ffff_0000_ffff),
                (8, 0x00ff_00ff_00ff_00ff),
                (4, 0x0f0f_0f0f_0f0f_0f0f),
                (2, 0x3333_3333_3333_3333),
                (1, 0x5555_5555_5555_5555),
            ]
            .iter()
            .fold(u64::from(half), |word, (by, mask)| (word | word << by) & mask)
        };
        spread(even) | spread(odd) << 1
    }
}

/// Plain Rust.
pub struct Plain;

impl Inner for Plain {}

/// The steps of a block in registers of type `W`.
trait Steps<W> {
    fn steps(window: &mut Window<W>, block: &mut Block) -> u32;
}

impl<I: Inner> Steps<u64> for I {
    #[inline(always)]
    fn steps(window: &mut Window<u64>, block: &mut Block) -> u32 {
        I::steps(window, block)
    }
}

impl Steps<u128> for Plain {
    fn steps(window: &mut Window<u128>, block: &mut Block) -> u32 {
        window.steps(block)
    }
}

/// Marks of older positions.
struct Old {
    used: [Row; 1],
    difference: [Row; 1],
    /// By parity.
    sum: [Row; 2],
    /// `sum` backwards.
    below: Row,
}

/// The rows of a span, and what its blocks leave behind.
pub struct Span {
    old: Old,
    /// Complete marks, `used` and `sum` by parity, aligned as the old ones.
    new: [Row; 3],
    blocks: [Blocks; WORDS],
    /// Which heaps are used.
    heaps: [u64; WORDS],
    /// Where each block's register begins in the row `used`.
    begins: [usize; BLOCKS],
    /// Where the next block's registers begin in the rows.
    cursor: Cursor,
}

/// The byte of each row where bit 0 of the registers lies.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    used: usize,
    difference: usize,
    sum: usize,
    below: usize,
}

impl Cursor {
    /// The cursor after some blocks in which `d` grew by `grown` bytes in all.
    #[inline(always)]
    fn after(self, blocks: usize, grown: usize) -> Cursor {
        Cursor {
            used: self.used + BLOCK / 8 * blocks + grown,
            difference: self.difference + grown,
            sum: self.sum + BLOCK / 16 * blocks + grown,
            below: self.below + grown - BLOCK / 8 * blocks,
        }
    }
}

impl Span {
    /// The old marks under registers that begin at `cursor`.
    #[inline(always)]
    fn old<W: Word>(&self, cursor: Cursor) -> Window<W> {
        let Old { used: [used], difference: [difference], sum: [even, odd], below } = &self.old;
        Window {
            used: W::load(used, cursor.used),
            difference: W::load(difference, cursor.difference),
            twice: W::load(below, cursor.below),
            late: W::load(below, cursor.below - BLOCK / 8),
            sum: [W::load(even, cursor.sum), W::load(odd, cursor.sum)],
        }
    }

    /// Keeps the marks of a block that are complete, given the registers after its steps.
    ///
    /// Those after them are written as well; the next block writes over them. The sums have moved up by half a block.
    #[inline(always)]
    fn keep<W: Word>(&mut self, cursor: Cursor, marks: &Window<W>) {
        self.new[0].store(cursor.used, marks.used.low());
        for (row, sum) in self.new[1..].iter_mut().zip(marks.sum) {
            row.store(cursor.sum, (sum >> (BLOCK / 2) as u32).low());
        }
    }

    /// [`Inner::blocks`] in the kernel's steps.
    #[inline(always)]
    pub fn narrow_blocks<I: Inner>(&mut self, window: &mut Window<u64>, block: usize) -> usize {
        self.run::<u64, I>(window, block, |_, _, _| false)
    }

    /// Runs blocks from `block` on while they are exact in registers of type `W`, until `stop(span, cursor, marks)` asks to
    /// stop before a block that is not the first; returns the block that is not run.
    #[inline(always)]
    fn run<W: Word, I: Steps<W>>(
        &mut self,
        window: &mut Window<W>,
        mut block: usize,
        stop: impl Fn(&Self, Cursor, &Window<W>) -> bool,
    ) -> usize {
        let (start, first, mut grown) = (self.cursor, block, 0);
        let mut registers = *window;
        while block < BLOCKS {
            let cursor = start.after(block - first, grown);
            let mut marks = registers.with(self.old(cursor));
            if !marks.is_exact() || block > first && stop(self, cursor, &marks) {
                break;
            }
            let growth = I::steps(&mut marks, &mut self.blocks.as_flattened_mut()[block]);
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
}

/// The registers between blocks.
enum Registers {
    Narrow(Window<u64>),
    Wide(Window<u128>),
}

impl Registers {
    /// Their marks in 128 bits.
    fn wide(&self) -> Window<u128> {
        match self {
            Registers::Wide(window) => *window,
            Registers::Narrow(Window { used, difference, twice, late, sum }) => Window {
                used: (*used).into(),
                difference: (*difference).into(),
                twice: u128::repeat(*twice),
                late: u128::repeat(*late),
                sum: sum.map(u128::from),
            },
        }
    }
}

/// The registers in 64 bits, if nothing is lost: marks from bit 48 on would leave them at the top within a block.
fn narrow(marks: &Window<u128>, old: &Window<u128>) -> Option<Window<u64>> {
    let own = marks.used & !old.used
        | marks.difference & !old.difference
        | marks.sum[0] & !old.sum[0]
        | marks.sum[1] & !old.sum[1];
    let fits = own >> 48 == 0 && marks.twice.shift_signed(u64::REACH) == u128::MAX;
    fits.then(|| Window {
        used: marks.used.low(),
        difference: marks.difference.low(),
        twice: marks.twice.low(),
        late: marks.late.low(),
        sum: marks.sum.map(Word::low),
    })
}

/// Why a run did not get to its end.
enum Halt {
    /// For a reason that the caller is told.
    Stop(Stop),
    /// Something was read that had been dropped, because by the slopes of the beams nobody would.
    Dropped,
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Halt::Stop(stop)
    }
}

/// The state between spans.
struct Automaton {
    limit: u64,
    /// The first heap of the next span.
    n: u64,
    /// At most the mex of the differences, a multiple of eight.
    d: u64,
    /// Upper positions so far.
    uppers: u64,
    /// The sum of the partners in the lower beam that are not yet in whole words of the tape `used`.
    pending: u128,
    registers: Registers,
    /// Which heaps are used; which lines `2m - n` are, by parity (odd ones at `(2m - n + 1) / 2`); which `n` are upper.
    used: Tape,
    sum: [Tape; 2],
    flags: Tape,
    pool: Pool,
    upper_used: Reader<1>,
    upper_difference: Reader<1>,
    upper_sum: Reader<2>,
    /// One more than the word of `sum` in the first word of the row that holds it backwards, and words free before that.
    top: u64,
    room: usize,
    span: Box<Span>,
}

/// The cost of a kernel of this family that takes `ns` nanoseconds for each unit of the limit.
pub fn cost(input: &ProportionateNim, ns: f64) -> Cost {
    input.published(90_000.0 + ns * input.limit() as f64, 0.05 * input.limit() as f64 + 1e6)
}

/// Runs the automaton, with `I` where kernels differ.
///
/// Small limits are left to the kernel with one window a position, which also finds the positions before the start.
#[inline(always)]
pub fn drive<S: Sink, I: Inner>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    if input.limit() <= 4 * START {
        return window_certificate::run(input, run);
    }
    let mut progress = Progress { sink: S::default(), found: 0, told: 0 };
    // The shares of the limit that are ever read, by the slopes of the beams; all, should they not suffice.
    for shares in [[0.408, 0.109, 0.269], [1.0; 3]] {
        match attempt::<S, I>(input, shares, run, &mut progress) {
            Ok(()) => {
                let Progress { mut sink, told, .. } = progress;
                sink.advance(run, input.smaller_heaps() - told)?;
                return Ok(sink);
            }
            Err(Halt::Stop(stop)) => return Err(stop),
            Err(Halt::Dropped) => {}
        }
    }
    Err(Stop::Overflow)
}

/// What attempts have done.
struct Progress<S> {
    sink: S,
    /// Heaps whose positions are in the sink.
    found: u64,
    /// Heaps that the run was told of.
    told: u64,
}

/// One attempt with tapes that keep `shares` of the limit. What an attempt before it found is found again, and dropped.
#[inline(always)]
fn attempt<S: Sink, I: Inner>(
    input: &ProportionateNim,
    shares: [f64; 3],
    run: &Run,
    Progress { sink, found, told }: &mut Progress<S>,
) -> Result<(), Halt> {
    let mut again = S::default();
    let mut automaton = Automaton::start(input, shares, if *found == 0 { &mut *sink } else { &mut again })?;
    loop {
        *found = automaton.n.max(*found);
        if *found - *told >= super::BLOCK {
            sink.advance(run, *found - *told)?;
            *told = *found;
        }
        if 2 * automaton.n + automaton.d > input.limit() {
            return Ok(());
        }
        automaton.prepare::<I>().ok_or(Halt::Dropped)?;
        automaton.blocks::<I>()?;
        automaton.settle::<S, I>(if automaton.n == *found { &mut *sink } else { &mut again });
    }
}

/// A set of lines, to start with.
struct Lines(Vec<u64>);

impl Lines {
    fn new(lines: impl Iterator<Item = u64>) -> Self {
        let mut words = vec![0; 8 * START as usize / WORD];
        lines.for_each(|line| words[line as usize / WORD] |= 1 << (line % 64));
        Lines(words)
    }

    fn contains(&self, line: u64) -> bool {
        self.0[line as usize / WORD] >> (line % 64) & 1 == 1
    }

    /// 64 lines from `at` on.
    fn window(&self, at: u64) -> u64 {
        (0..64).fold(0, |word, i| word | u64::from(self.contains(at + i)) << i)
    }

    /// The lines before `end`: whole words onto the tape, and the words from `start` on into the row.
    fn write(&self, tape: &mut Tape, row: &mut Row, pool: &mut Pool, start: u64, end: u64) {
        let (start, end) = (start as usize / WORD, end as usize / WORD);
        self.0[..end].iter().for_each(|word| tape.push(*word, pool));
        (start..=end).for_each(|word| row.store(8 * (word - start), self.0[word]));
    }
}

impl Automaton {
    /// The state at [`START`]; the positions before it go to the sink. `shares` of the limit are kept on the tapes.
    fn start<S: Sink>(input: &ProportionateNim, shares: [f64; 3], sink: &mut S) -> Result<Self, Stop> {
        let limit = input.limit();
        let n = START;
        let first = ProportionateNim { limit: 4 * n, ..input.clone() };
        let mut before = window_certificate::run::<Positions>(&first, &Run::new(1))?.0;
        before.retain(|[a, _]| *a < n);
        before.iter().filter(|[a, b]| a + b <= limit).for_each(|position| sink.push(*position));

        let lines = |line: fn(u64, u64) -> Option<u64>| Lines::new(before.iter().filter_map(|[a, b]| line(*a, *b)));
        let used = lines(|_, b| Some(b));
        let difference = lines(|a, b| Some(b - a));
        let sum = [
            lines(|a, b| (a % 2 == 0).then(|| (2 * b - a) / 2)),
            lines(|a, b| (a % 2 == 1).then(|| (2 * b - a).div_ceil(2))),
        ];
        let below = Lines::new(before.iter().flat_map(|[a, b]| [Some(2 * b - a), (2 * a).checked_sub(*b)]).flatten());
        let flags = Lines::new(before.iter().filter(|[a, b]| *b > 2 * a).map(|[a, _]| *a));

        let d = (0..).find(|d| !difference.contains(*d)).unwrap_or(0) & !7;
        let from = [n + d - PAD as u64, d - PAD as u64, n / 2 + d - PAD as u64];
        // Bit `q` of a register that goes down: the line `top - q`.
        let falling = |top: u64| (0..64).fold(0, |word, q| word | u64::from(below.contains(top - q)) << q);
        let registers = Registers::Narrow(Window {
            used: used.window(from[0]),
            difference: difference.window(from[1]),
            twice: falling(n - d + PAD as u64),
            late: falling(n - d + (PAD + BLOCK) as u64),
            sum: [sum[0].window(from[2]), sum[1].window(from[2])],
        });

        let mut pool = Pool::default();
        let mut span = Box::new(Span {
            old: Old {
                used: [Row::new()],
                difference: [Row::new()],
                sum: [const { Row::new() }; 2],
                below: Row::new(),
            },
            new: [const { Row::new() }; 3],
            blocks: [const { [const { Block::new() }; WORD / BLOCK] }; WORDS],
            heaps: [0; WORDS],
            begins: [0; BLOCKS],
            cursor: Cursor::default(),
        });
        let tape = |share: f64| Tape::new(((limit as f64 * share) as usize + 8 * n as usize) / WORD);
        let mut tapes = [tape(shares[0]), tape(shares[1]), tape(shares[1]), tape(shares[2])];
        let [used_tape, even, odd, flags_tape] = &mut tapes;
        used.write(used_tape, &mut span.new[0], &mut pool, from[0], n + d);
        sum[0].write(even, &mut span.new[1], &mut pool, from[2], n / 2 + d);
        sum[1].write(odd, &mut span.new[2], &mut pool, from[2], n / 2 + d);
        flags.0[..n as usize / WORD].iter().for_each(|word| flags_tape.push(*word, &mut pool));

        // The readers start where the rows of new marks do.
        let (mut upper_used, mut upper_sum) = (Reader::new(), Reader::new());
        upper_used.start_at::<Used>(&mut span.old.used, flags_tape, from[0]);
        upper_sum.start_at::<Sum>(&mut span.old.sum, flags_tape, from[2]);
        let [used, even, odd, flags] = tapes;
        Ok(Automaton {
            limit,
            n,
            d,
            uppers: before.iter().filter(|[a, b]| *b > 2 * a).count() as u64,
            pending: before
                .iter()
                .filter(|[a, b]| *b <= 2 * a && *b >= (n + d) & !63)
                .map(|[_, b]| u128::from(*b))
                .sum(),
            registers,
            used,
            sum: [even, odd],
            flags,
            pool,
            upper_used,
            upper_difference: Reader::new(),
            upper_sum,
            top: (n - d) / 64 - SLACK / 64,
            room: Row::BITS / WORD,
            span,
        })
    }

    /// Prepares the rows of the next span. `None` if marks that it reads are missing.
    #[inline(always)]
    fn prepare<I: Inner>(&mut self) -> Option<()> {
        let Automaton { n, d, span, .. } = self;
        let span = &mut **span;
        let (n, d) = (*n, *d);
        let (pad, heaps) = (PAD as u64, SPAN as u64);
        let from = [n + d - pad, d - pad, n / 2 + d - pad];
        let to = [from[0] + 2 * heaps + SLACK, from[1] + heaps + SLACK, from[2] + heaps + heaps / 2 + SLACK];
        let passed = self.upper_used.read::<Used, I>(&mut span.old.used, &self.flags, from[0], to[0])?;
        span.new[0].drop_words(passed);
        self.upper_difference.read::<Difference, I>(&mut span.old.difference, &self.flags, from[1], to[1])?;
        let passed = self.upper_sum.read::<Sum, I>(&mut span.old.sum, &self.flags, from[2], to[2])?;
        span.new[1..].iter_mut().for_each(|row| row.drop_words(passed));

        // The sums backwards: new words come in before the others.
        let top = (n - d + heaps + SLACK) / 64;
        if (top - self.top) as usize > self.room {
            let room = Row::BITS / WORD - KEPT;
            span.old.below.raise_words(room - self.room);
            self.room = room;
        }
        for word in self.top..top {
            self.room -= 1;
            // Lines from `64 word + 1` on, the first of which is odd.
            let [even, odd] = [self.sum[0].bits(32 * word + 1)?, self.sum[1].bits(32 * word + 1)?];
            span.old.below.store(8 * self.room, I::interleave(odd, even).reverse_bits());
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
            I::open(*used, blocks);
        }

        self.used.release(n as usize / WORD, &mut self.pool);
        self.sum.iter_mut().for_each(|tape| tape.release((top / 2) as usize, &mut self.pool));
        self.flags.release(self.upper_difference.next(), &mut self.pool);
        Some(())
    }

    /// Runs the blocks of the prepared span, in registers as wide as they need.
    #[inline(always)]
    fn blocks<I: Inner>(&mut self) -> Result<(), Stop> {
        let span = &mut *self.span;
        let mut block = 0;
        while block < BLOCKS {
            match &mut self.registers {
                Registers::Narrow(window) => {
                    block = I::blocks(span, window, block);
                    if block < BLOCKS {
                        self.registers = Registers::Wide(self.registers.wide());
                    }
                }
                Registers::Wide(window) => {
                    block = span.run::<u128, Plain>(window, block, |span, cursor, marks| {
                        narrow(marks, &span.old(cursor)).is_some()
                    });
                    if block < BLOCKS {
                        let old = span.old(span.cursor);
                        self.registers = Registers::Narrow(narrow(&window.with(old), &old).ok_or(Stop::Overflow)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// [`Automaton::pending`] as it is now.
    #[inline(always)]
    fn partners_pending<I: Inner>(&self) -> u128 {
        let span = &self.span;
        let end = 8 * span.cursor.used + PAD;
        let (word, shift) = (end / WORD, end % WORD);
        // In the registers, and in the last word of the row.
        let own = (self.registers.wide().used & !span.old::<u128>(span.cursor).used) >> PAD as u32;
        let partial = span.new[0].word(word) & !span.old.used[0].word(word) & !(u64::MAX << shift);
        let mut words = [0; WORDS];
        words[0] = partial | (own << shift).low();
        words[1] = (own << shift >> WORD).low();
        words[2] = (own >> 1 >> (127 - shift)).low();
        total(I::sum_of_bits(&words), self.upper_used.start + (WORD * word) as u64)
    }

    /// Ends a span: positions into the sink, marks and flags onto the tapes.
    #[inline(always)]
    fn settle<S: Sink, I: Inner>(&mut self, sink: &mut S) {
        let n = self.n;
        let start = self.upper_used.start;
        self.n = n + SPAN as u64;
        self.d = self.upper_difference.start + (8 * self.span.cursor.difference + PAD) as u64;

        let Span { heaps, blocks, new: [used, sums @ ..], old, cursor, .. } = &*self.span;
        let lower: [u64; WORDS] = std::array::from_fn(|i| I::lower(&blocks[i]));
        let upper: [u64; WORDS] = std::array::from_fn(|i| !heaps[i] & !lower[i]);
        self.flags.extend(&upper, WORDS, &mut self.pool);

        // The partners, and whole words of marks onto the tapes.
        let mut partners = 0;
        let end = (8 * cursor.used + PAD) / WORD;
        for word in (self.used.end() - start as usize / WORD..end).step_by(WORDS) {
            let [marks, old] = [used, &old.used[0]].map(|row| row.words::<WORDS>(word));
            let count = WORDS.min(end - word);
            let new = std::array::from_fn(|i| if i < count { marks[i] & !old[i] } else { 0 });
            partners += total(I::sum_of_bits(&new), start + (WORD * word) as u64);
            self.used.extend(&marks, count, &mut self.pool);
        }
        let sum_start = self.upper_sum.start as usize / WORD;
        let end = (8 * cursor.sum + PAD) / WORD;
        for (tape, row) in self.sum.iter_mut().zip(sums) {
            for word in (tape.end() - sum_start..end).step_by(WORDS) {
                tape.extend(&row.words::<WORDS>(word), WORDS.min(end - word), &mut self.pool);
            }
        }
        let pending = self.partners_pending::<I>();
        let partners = partners + pending - self.pending;
        self.pending = pending;

        let uppers = self.uppers;
        let [new_uppers, upper_sum] = I::sum_of_bits(&upper);
        self.uppers += new_uppers;
        let lower_inside = 2 * self.n + self.d + 128 <= self.limit;
        let upper_inside = 3 * self.n + self.uppers <= self.limit;
        let upper_outside = 3 * n + uppers >= self.limit;
        match sink.beams() {
            Some(tally) if lower_inside && (upper_inside || upper_outside) => {
                tally.lower.larger += partners;
                let lowers = I::sum_of_bits(&lower);
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
            _ => {
                let mut k = uppers;
                for i in (0..SPAN).filter(|i| heaps[i / WORD] >> (i % WORD) & 1 == 0) {
                    let a = n + i as u64;
                    let b = if lower[i / WORD] >> (i % WORD) & 1 == 1 {
                        start
                            + 8 * self.span.begins[i / BLOCK] as u64
                            + unpick(blocks.as_flattened()[i / BLOCK].picks[i % BLOCK])
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
    }
}

/// How many bits of a word are set, and the sum of their numbers.
#[inline(always)]
fn sum_of_bits(word: u64) -> [u64; 2] {
    let digits = DIGITS.iter().zip(0..).map(|(numbers, digit)| u64::from((word & numbers).count_ones()) << digit);
    [word.count_ones().into(), digits.sum()]
}

/// The numbers of a word's bits that have each binary digit.
pub const DIGITS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The sum of so many numbers, given what they are in excess of `at`.
#[inline(always)]
fn total([count, sum]: [u64; 2], at: u64) -> u128 {
    u128::from(count) * u128::from(at) + u128::from(sum)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use proptest::prelude::*;

    use super::*;
    use crate::cores::occupancy::Tally;
    use crate::cores::sink::Sink as _;

    /// Every block in 128-bit registers.
    struct Wide;

    impl Inner for Wide {
        fn blocks(_: &mut Span, _: &mut Window<u64>, block: usize) -> usize {
            block
        }
    }

    fn all_wide<S: Sink>(limit: u64) -> S {
        let input = ProportionateNim::new(limit).expect("small");
        drive::<S, Wide>(&input, &Run::new(1)).expect("runs to its end")
    }

    /// The driver's own choice of registers, but every third block must be a wide one; counts the blocks that are refused.
    struct Thirds;

    static REFUSED: AtomicUsize = AtomicUsize::new(0);

    impl Inner for Thirds {
        fn blocks(span: &mut Span, window: &mut Window<u64>, block: usize) -> usize {
            let end = match block % 3 {
                0 => block,
                _ => span.run::<u64, Plain>(window, block, |_, _, _| true),
            };
            REFUSED.fetch_add(usize::from(end == block), Relaxed);
            end
        }
    }

    #[test]
    fn registers_widen_and_narrow_again_at_any_block() {
        for limit in [20_000, 123_456, 1_000_000] {
            let input = ProportionateNim::new(limit).expect("small");
            assert_eq!(drive::<_, Thirds>(&input, &Run::new(1)), Ok(known(limit)), "limit {limit}");
            // A run that ended one block further on, in narrow registers, is not refused: nearly every third block is.
            let blocks = (limit * 2 / 5 - START) as usize / BLOCK;
            assert!(REFUSED.swap(0, Relaxed) > blocks / 4, "limit {limit}");
        }
    }

    fn known(limit: u64) -> Positions {
        window_certificate::run(&ProportionateNim::new(limit).expect("small"), &Run::new(1)).expect("runs to its end")
    }

    #[test]
    fn wide_registers_alone_find_every_position() {
        for limit in [4 * START + 1, 20_000, 123_456] {
            assert_eq!(all_wide::<Positions>(limit), known(limit));
        }
        let mut tally = Tally::default();
        known(1_000_000).0.into_iter().for_each(|position| tally.push(position));
        assert_eq!(all_wide::<Tally>(1_000_000), tally);
    }

    #[test]
    fn a_second_attempt_goes_on_where_the_first_ended() {
        let (input, run) = (ProportionateNim::new(200_000).expect("small"), Run::new(1));
        let mut progress = Progress { sink: Positions::default(), found: 0, told: 0 };
        // Tapes that drop what is needed again.
        let first = attempt::<_, Plain>(&input, [0.1, 0.03, 0.07], &run, &mut progress);
        assert!(matches!(first, Err(Halt::Dropped)) && progress.found > START);
        assert!(attempt::<_, Plain>(&input, [1.0; 3], &run, &mut progress).is_ok());
        assert_eq!(progress.sink, known(200_000));
    }

    #[test]
    fn the_automaton_starts_and_ends_anywhere() {
        // Every limit for a while: round the limit that is left to another kernel, and every end within a span.
        for limit in (4 * START - 5..4 * START + 5).chain((30_000..34_000).step_by(7)) {
            let input = ProportionateNim::new(limit).expect("small");
            assert_eq!(drive::<_, Plain>(&input, &Run::new(1)), Ok(known(limit)), "limit {limit}");
        }
    }

    /// A block by the definition of its registers: `rows[r][bit]`, any number of bits.
    fn by_definition(window: &Window<u128>, open: &[bool; BLOCK]) -> [Option<usize>; BLOCK] {
        // Bit `q` of the first row stands for a fixed `m`; the others move up by 1, 2 and, of their own parity, 1/2 a step.
        let set = |word: u128| (0..128).filter(|q| word >> q & 1 == 1).map(|q| q as i64).collect::<Vec<_>>();
        let (mut used, mut difference, mut twice) = (set(window.used), set(window.difference), set(window.twice));
        twice.extend(128..400);
        twice.extend(set(window.late).iter().map(|q| q - BLOCK as i64));
        let mut sum = window.sum.map(set);
        std::array::from_fn(|j| {
            let j = j as i64;
            let row = j as usize % 2;
            let at = |q: i64| [q, q - j, q - 2 * j, q - j / 2];
            let q = (PAD as i64 + j..128).find(|q| {
                let [a, b, c, d] = at(*q);
                !(used.contains(&a) || difference.contains(&b) || twice.contains(&c) || sum[row].contains(&d))
            });
            let q = q.filter(|_| open[j as usize])?;
            let [a, b, c, d] = at(q);
            used.push(a);
            difference.push(b);
            twice.push(c);
            sum[row].push(d);
            Some(q as usize)
        })
    }

    fn steps<W: Word>(mut window: Window<W>, open: &[bool; BLOCK]) -> [Option<usize>; BLOCK] {
        let mut block = Block::new();
        for (j, open) in open.iter().enumerate().filter(|(_, open)| **open) {
            block.open[j] = u64::from(*open) * (u64::MAX << (PAD + j));
        }
        window.steps(&mut block);
        block.picks.map(|pick| (pick != 0).then(|| unpick(pick) as usize))
    }

    fn narrowed(window: &Window<u128>) -> Window<u64> {
        let Window { used, difference, twice, late, sum } = window;
        Window {
            used: used.low(),
            difference: difference.low(),
            twice: twice.low(),
            late: late.low(),
            sum: sum.map(Word::low),
        }
    }

    /// Registers with marks at random, dense or sparse, whose row `twice` is full from `reach` on.
    fn windows(reach: u32) -> impl Strategy<Value = (Window<u128>, [bool; BLOCK])> {
        let word = || {
            (any::<u128>(), any::<u128>(), any::<bool>()).prop_map(|(a, b, dense)| if dense { a | b } else { a & b })
        };
        let words = (word(), word(), word(), any::<u16>(), word(), word());
        (words, any::<[bool; BLOCK]>()).prop_map(move |((used, difference, twice, late, even, odd), open)| {
            let twice = twice | u128::MAX << reach;
            // What was below the register and what was in it, sixteen bits further up.
            let late = u128::from(late) | twice << BLOCK;
            (Window { used, difference, twice, late, sum: [even, odd] }, open)
        })
    }

    proptest! {
        #[test]
        fn a_block_follows_the_definition_of_its_registers((window, open) in windows(u64::REACH)) {
            let want = by_definition(&window, &open);
            prop_assert!(narrowed(&window).is_exact());
            prop_assert_eq!(steps(narrowed(&window), &open), want);
            prop_assert_eq!(steps(window, &open), want);
        }

        #[test]
        fn a_wide_block_does_too((window, open) in windows(u128::REACH)) {
            prop_assert!(window.is_exact());
            prop_assert_eq!(steps(window, &open), by_definition(&window, &open));
        }

        #[test]
        fn a_pick_is_found_again(q in 1_u32..127) {
            prop_assert_eq!(unpick((1_u128 << q).pick()), u64::from(q));
        }

        #[test]
        fn bits_are_summed(words in any::<[u64; WORDS]>(), at in 0_u64..1 << 40) {
            let set = (0..SPAN).filter(|i| words[i / WORD] >> (i % WORD) & 1 == 1);
            let want: u128 = set.map(|i| u128::from(at) + i as u128).sum();
            prop_assert_eq!(total(Plain::sum_of_bits(&words), at), want);
        }

        #[test]
        fn words_are_interleaved(even in any::<u32>(), odd in any::<u32>()) {
            let word = Plain::interleave(even, odd);
            for i in 0..32 {
                prop_assert_eq!(word >> (2 * i) & 1, u64::from(even >> i & 1));
                prop_assert_eq!(word >> (2 * i + 1) & 1, u64::from(odd >> i & 1));
            }
        }
    }
}
