//! A span of heaps: the rows that its blocks read, and their results.

use super::row::SpanRow;
use super::window::{BLOCK, Block, PAD, Window, Word};
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
    /// Its [`Window::late`].
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
        window: Window<u128>,
        used: u16,
    ) -> Option<(Window<u64>, u32, [u64; BLOCK])> {
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
    pub fn old<W: Word>(&self, cursor: Cursor) -> Window<W> {
        let OldMarks { used: [used], difference: [difference], sum: [even, odd], below } = &self.old;
        Window {
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
    fn keep<W: Word>(&mut self, cursor: Cursor, marks: &Window<W>) {
        self.new[0].store(cursor.used, marks.used.low());
        for (parity, sum) in marks.sum.into_iter().enumerate() {
            self.new[1 + parity].store(cursor.sum, (sum >> (BLOCK / 2) as u32).low());
        }
    }
}
