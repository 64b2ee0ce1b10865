//! Where the marks are: tables of lines, each a triangle.
//!
//! A table holds the lines of all rows for the first 512 places, then those for the next, and so on. So the rows of a step are
//! at the same distances in every step: those of `x` ascend with the layer, because they are stored in descending order; those
//! of `d` are two apart. A step takes arrays of rows, checked once.

use super::{BAND, BANDS, SUPERBAND, TILE};
use crate::simd::bits::WORD;
use crate::simd::line::{Line, Lines, PLACES};

/// Lines before and after the rows of a block, for lanes of steps that have no pair.
const FRONT: usize = 2 * BAND;
/// A row by differences is longer than it needs to be by this much, so that every line that is read exists.
const SLACK: usize = SUPERBAND + TILE + PLACES;

/// The lines of a step whose layers are one row apart.
pub type Xs = [Line; BAND];
/// The lines of a step whose layers are two rows apart: the second of each is not used.
pub type Ds = [[Line; 2]; BAND];

/// A table.
pub struct Table {
    lines: Lines,
    /// The first line of each block, and the end.
    starts: Vec<usize>,
}

/// How many rows each block of places has.
#[derive(Clone, Copy)]
pub enum Shape {
    /// By `z`: no row of a larger heap or difference is read.
    ByHeap,
    /// By a difference that, added to the row, is at most the largest heap. Block 0 is for differences below 0.
    ByGap,
}

impl Shape {
    fn rows(self, heaps: usize, block: usize) -> usize {
        let all = heaps.next_multiple_of(BAND);
        match self {
            Shape::ByHeap => all.min((block + 1) * PLACES),
            Shape::ByGap => all.min((heaps + SLACK + PLACES).saturating_sub(block * PLACES)),
        }
    }

    fn blocks(self, heaps: usize) -> usize {
        match self {
            Shape::ByHeap => heaps.div_ceil(PLACES),
            Shape::ByGap => (heaps + SLACK).div_ceil(PLACES) + 1,
        }
    }

    /// The first line of each block, and the end.
    fn starts(self, heaps: usize) -> Vec<usize> {
        let blocks = self.blocks(heaps);
        let mut starts = vec![0; blocks + 1];
        for block in 0..blocks {
            starts[block + 1] = starts[block] + self.rows(heaps, block) + 2 * FRONT;
        }
        starts
    }

    /// The number of lines, which may be too large for an index.
    fn lines(self, heaps: usize) -> u64 {
        (0..self.blocks(heaps)).map(|block| (self.rows(heaps, block) + 2 * FRONT) as u64).sum()
    }

    /// Bytes of a table.
    pub fn bytes(self, heaps: usize) -> f64 {
        Lines::bytes(self.lines(heaps)) + (size_of::<usize>() * (self.blocks(heaps) + 1)) as f64
    }
}

impl Table {
    pub fn new(shape: Shape, heaps: usize) -> Self {
        let starts = shape.starts(heaps);
        Table { lines: Lines::new(starts[shape.blocks(heaps)]), starts }
    }

    /// The lines of all rows for a block of places.
    #[inline(always)]
    pub fn block(&self, block: usize) -> Block<'_> {
        Block(&self.lines[self.starts[block]..self.starts[block + 1]])
    }

    /// Whether there is such a block with such a row.
    pub fn has(&self, block: usize, row: usize) -> bool {
        self.starts.get(block + 1).is_some_and(|end| row + 2 * FRONT < end - self.starts[block])
    }
}

/// A segment of candidates, as a superband sees it.
#[derive(Clone, Copy)]
pub struct Segment {
    pub index: usize,
    /// The first candidate.
    pub z0: usize,
    /// The first layer of the superband, and their number.
    pub y0: usize,
    pub layers: usize,
}

impl Segment {
    /// The word before that of `z0` in the rows by differences, in the frame of the band from `y0` on.
    #[inline(always)]
    pub fn word(self, y0: usize) -> usize {
        (PLACES + self.z0 - y0) / WORD - 1
    }
}

/// The lines of all rows for one block of places.
#[derive(Clone, Copy)]
pub struct Block<'a>(&'a [Line]);

impl<'a> Block<'a> {
    /// All lines, including those of no row.
    pub fn lines(self) -> &'a [Line] {
        self.0
    }

    /// The line of a heap.
    #[inline(always)]
    pub fn x(self, x: usize) -> &'a Line {
        &self.0[self.0.len() - 1 - FRONT - x]
    }

    /// The line of a difference.
    #[inline(always)]
    pub fn d(self, d: usize) -> &'a Line {
        &self.0[FRONT + d]
    }

    /// The lines of the heaps `t - k`, none of which is below `-FRONT`.
    #[inline(always)]
    pub fn xs(self, t: usize) -> &'a Xs {
        self.0[self.0.len() - 1 - FRONT - t..].first_chunk().expect("rows of x")
    }

    /// The lines of the differences `y0 - t + 2k`.
    #[inline(always)]
    pub fn ds(self, y0: usize, t: usize) -> &'a Ds {
        let lines: &[Line; 2 * BAND] = self.0[FRONT + y0 - t..].first_chunk().expect("rows of d");
        // A slice of lines becomes one of pairs of lines.
        lines.as_chunks::<2>().0.first_chunk().expect("as many pairs")
    }
}

/// Places before that of difference 0: more than `x + k - z`, which is largest at the first candidate of a segment that has `y`
/// of the same band. A whole number of lines.
const LAYER_FRONT: usize = 2 * PLACES;

/// `gap[y]` of the layers of a superband: for each band the lines of its layers for the first 512 places, then those for the next, and
/// so on. The place of `z - x` in the row of layer `k` of its band is `z - x - k`. In a step, where `x = t - k`, that is `z - t` for all
/// layers: their windows begin at one place.
pub struct LayerRows {
    lines: Lines,
    /// Blocks of places.
    blocks: usize,
}

impl LayerRows {
    fn blocks(heaps: usize) -> usize {
        (LAYER_FRONT + heaps).div_ceil(PLACES) + 2
    }

    /// Bytes of the rows.
    pub fn bytes(heaps: usize) -> f64 {
        Lines::bytes((BANDS * BAND * Self::blocks(heaps)) as u64)
    }

    pub fn new(heaps: usize) -> Self {
        let blocks = Self::blocks(heaps);
        LayerRows { lines: Lines::new(BANDS * BAND * blocks), blocks }
    }

    /// Clears all marks.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// The lines of a band's layers for two blocks of places, and the place in them of candidate `z` in step `t`.
    #[inline(always)]
    pub fn windows(&self, band: usize, z: usize, t: usize) -> ([&[Line; BAND]; 2], usize) {
        let place = LAYER_FRONT + z - t;
        let lines = &self.lines[(band * self.blocks + place / PLACES) * BAND..];
        let (low, high) = lines.split_first_chunk().expect("a block of places");
        ([low, high.first_chunk().expect("the next block")], place % PLACES)
    }

    /// Marks 64 differences from a multiple of 64 on in the row of layer `k`.
    pub fn set(&self, band: usize, k: usize, gap: usize, bits: u64) {
        let place = LAYER_FRONT + gap - k;
        let line = |word: usize| {
            let block = word * WORD / PLACES;
            &self.lines[(band * self.blocks + block) * BAND + k]
        };
        let (word, shift) = (place / WORD, place % WORD);
        line(word).set(word, bits << shift);
        line(word + 1).set(word + 1, bits >> 1 >> (WORD - 1 - shift));
    }
}
