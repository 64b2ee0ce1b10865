//! Which rows of a tile have no free place in a segment.
//!
//! The words that are full are looked up for all bands of a superband at once, and again in a row when one of its words gets
//! full.

use super::tables::{Block, Segment};
use super::{BAND, BANDS, SUPERBAND, TILE, Tables};
use crate::simd::line::{Line, PLACES, WORDS};
use crate::simd::{array_of, mapped};

/// Words of a moved window.
const WINDOW: u32 = (1 << (WORDS + 1)) - 1;
/// Lines of a row by differences in which the windows of all bands lie.
const LINES: usize = (WORDS - 1 + BANDS - 1 + WORDS + 1).div_ceil(WORDS);
const _: () = assert!(LINES * WORDS <= u32::BITS as usize, "a bit for each word");
/// Entries before that of the difference of the first layer and the first heap.
const FRONT: usize = TILE + BAND;

/// A bit for each word of the rows by differences, all ones for a row that is full by `z`.
pub struct Full {
    xs: [u32; TILE],
    /// The entry of `d` is at `FRONT + d - (first layer - first x)`.
    ds: [u32; FRONT + SUPERBAND + 3 * BAND],
}

/// The full rows of one band.
pub struct FullRows {
    xs: [bool; TILE],
    ds: [bool; FRONT + 3 * BAND],
}

/// A tile in one segment, and the lines in which its rows may be full.
pub struct Tile<'a> {
    pub at: Segment,
    /// The first heap.
    x0: usize,
    by_z: [Block<'a>; 2],
    /// The first word of `by_gap`.
    from: usize,
    by_gap: [[Block<'a>; LINES]; 2],
}

/// Gives a bit for each word of a line that has no free place.
pub trait FullWords: Fn(&Line) -> u8 + Copy {}

impl<F: Fn(&Line) -> u8 + Copy> FullWords for F {}

impl<'a> Tile<'a> {
    /// The tile from `x0` on.
    pub fn new(marks: &'a Tables, at: Segment, x0: usize) -> Self {
        // The frame of the last band that has candidates is the lowest.
        let last = (at.layers - 1).min(at.z0 + PLACES - 1 - at.y0) / BAND * BAND;
        let block = at.word(at.y0 + last) / WORDS;
        let by_z = [marks.one.block(at.index), marks.two.block(at.index)];
        let by_gap = mapped([&marks.gap, &marks.all], |table| array_of(|i| table.block(block + i)));
        Tile { at, x0, by_z, from: block * WORDS, by_gap }
    }

    #[inline(always)]
    fn of_x(&self, x: usize, full_words: impl FullWords) -> u32 {
        words(self.by_z[0].x(x), array_of(|i| self.by_gap[0][i].x(x)), full_words)
    }

    #[inline(always)]
    fn of_d(&self, d: usize, full_words: impl FullWords) -> u32 {
        words(self.by_z[1].d(d), array_of(|i| self.by_gap[1][i].d(d)), full_words)
    }
}

/// The entry of a row, given its lines.
#[inline(always)]
fn words(by_z: &Line, by_gap: [&Line; LINES], full_words: impl FullWords) -> u32 {
    if full_words(by_z) == u8::MAX {
        return u32::MAX;
    }
    let mut all = 0;
    for (i, line) in by_gap.iter().enumerate() {
        all |= u32::from(full_words(line)) << (WORDS * i);
    }
    all
}

impl Full {
    pub const fn new() -> Self {
        Full { xs: [0; TILE], ds: [0; FRONT + SUPERBAND + 3 * BAND] }
    }

    /// Looks up the rows of a tile that ends before `x1`.
    #[inline(always)]
    pub fn look_up(&mut self, tile: &Tile<'_>, x1: usize, full_words: impl FullWords) {
        let Tile { at, x0, .. } = *tile;
        for (entry, x) in self.xs.iter_mut().zip(x0..x1) {
            *entry = tile.of_x(x, full_words);
        }
        let first = (at.y0 + 1).saturating_sub(x1);
        let end = (at.y0 + at.layers - x0).min(at.z0 + PLACES);
        for (entry, d) in self.ds[FRONT + first + x0 - at.y0..].iter_mut().zip(first..end) {
            *entry = tile.of_d(d, full_words);
        }
    }

    /// Looks up two rows again.
    #[inline(always)]
    pub fn look_up_again(&mut self, tile: &Tile<'_>, x: usize, d: usize, full_words: impl FullWords) {
        self.xs[x - tile.x0] = tile.of_x(x, full_words);
        self.ds[FRONT + d + tile.x0 - tile.at.y0] = tile.of_d(d, full_words);
    }

    /// Records the full rows of the band from `y0` on.
    #[inline(always)]
    pub fn band(&self, tile: &Tile<'_>, y0: usize, band: &mut FullRows) {
        let shift = tile.at.word(y0) - tile.from;
        let is_full = |words: &u32| words >> shift & WINDOW == WINDOW;
        band.xs.iter_mut().zip(&self.xs).for_each(|(row, words)| *row = is_full(words));
        band.ds.iter_mut().zip(&self.ds[y0 - tile.at.y0..]).for_each(|(row, words)| *row = is_full(words));
    }
}

impl FullRows {
    pub const fn new() -> Self {
        FullRows { xs: [false; TILE], ds: [false; FRONT + 3 * BAND] }
    }

    /// Whether a row of `d` is full: that of the first layer's `y` less the heap at `of`, counted from the first of the tile. The
    /// heap may be up to `2 BAND` before the tile.
    #[inline(always)]
    fn d(&self, of: isize) -> bool {
        self.ds[(FRONT as isize - of) as usize]
    }

    /// The steps of the band, given its full layers and the number of heaps.
    #[inline(always)]
    pub fn steps(&self, layers: u64, heaps: usize) -> Steps<'_> {
        let ds = |of: isize| (0..BAND as isize).fold(0, |all, k| all | u64::from(self.d(of - 2 * k)) << k);
        Steps { rows: self, layers, heaps, of: 0, xs: u64::MAX, ds: [ds(-2), ds(-1)] }
    }
}

/// The steps of a band through a tile: bit `k` says that the pair of layer `k` has a full row, or its heap `x` is not in the tile.
pub struct Steps<'a> {
    rows: &'a FullRows,
    layers: u64,
    heaps: usize,
    /// The heap of the first layer, counted from the first of the tile.
    of: usize,
    /// A bit for each layer. The rows of `x` move on by one layer in each step, those of `d` in every other step.
    xs: u64,
    ds: [u64; 2],
}

impl Iterator for Steps<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.xs = self.xs << 1 | u64::from(self.of >= self.heaps || self.rows.xs[self.of % TILE]);
        self.ds = [self.ds[1], self.ds[0] << 1 | u64::from(self.rows.d(self.of as isize))];
        self.of += 1;
        Some(self.xs | self.ds[1] | self.layers)
    }
}
