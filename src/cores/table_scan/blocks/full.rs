//! Which rows of a tile have no free place in a segment.
//!
//! The words of a row that are full are looked up once for all bands of a superband. Marks that are made since are not seen,
//! which costs some searches in vain.

use super::superband::Segment;
use super::{BAND, BANDS, Marks, SUPERBAND, TILE};
use crate::simd::line::{Line, PLACES, WORDS};

/// Words of a moved window.
const WINDOW: u32 = (1 << (WORDS + 1)) - 1;
/// Lines of a row by differences in which the windows of all bands lie.
const LINES: usize = (WORDS - 1 + BANDS - 1 + WORDS + 1).div_ceil(WORDS);
const _: () = assert!(LINES * WORDS <= u32::BITS as usize, "a bit for each word");
/// Entries before those of the first difference of a tile: of lanes that have no pair.
const FRONT: usize = TILE + BAND;

/// A bit for each word of the rows by differences, all ones for a row that is full by `z`.
pub struct Full {
    xs: [u32; TILE],
    /// The entry of `d` is at `FRONT + d - (first layer - first x)`.
    ds: [u32; FRONT + SUPERBAND + 3 * BAND],
    /// The first word that has a bit.
    from: usize,
}

/// The full rows of one band: a byte for each.
pub struct FullRows {
    xs: [bool; TILE],
    ds: [bool; FRONT + 3 * BAND],
}

impl Full {
    pub fn new() -> Self {
        Full { xs: [0; TILE], ds: [0; FRONT + SUPERBAND + 3 * BAND], from: 0 }
    }

    /// Looks the rows of a tile from `x0` to before `x1` up.
    #[inline(always)]
    pub fn look_up(&mut self, marks: &Marks, at: Segment, x0: usize, x1: usize, full_words: &impl Fn(&Line) -> u8) {
        let last = (at.layers - 1) / BAND * BAND;
        self.from = at.word(at.y0 + last.min((at.z0 + PLACES - 1 - at.y0) / BAND * BAND)) / WORDS * WORDS;
        let block = self.from / WORDS;
        let [one, two] = [marks.one.block(at.index), marks.two.block(at.index)];
        let gaps: [_; LINES] = std::array::from_fn(|i| marks.gap.block(block + i));
        let alls: [_; LINES] = std::array::from_fn(|i| marks.all.block(block + i));
        let words = |by_z: &Line, by_gap: [&Line; LINES]| {
            let by_gap =
                by_gap.iter().enumerate().fold(0, |all, (i, line)| all | u32::from(full_words(line)) << (WORDS * i));
            if full_words(by_z) == u8::MAX { u32::MAX } else { by_gap }
        };
        for (entry, x) in self.xs.iter_mut().zip(x0..x1) {
            *entry = words(one.x(x), gaps.map(|gap| gap.x(x)));
        }
        let first = (at.y0 + 1).saturating_sub(x1);
        let end = (at.y0 + at.layers - x0).min(at.z0 + PLACES);
        let entries = &mut self.ds[FRONT + first + x0 - at.y0..];
        for (entry, d) in entries.iter_mut().zip(first..end) {
            *entry = words(two.d(d), alls.map(|all| all.d(d)));
        }
    }

    /// The full rows of the band from `y0` on.
    #[inline(always)]
    pub fn rows(&self, at: Segment, y0: usize, rows: &mut FullRows) {
        let shift = at.word(y0) - self.from;
        let is_full = |words: &u32| words >> shift & WINDOW == WINDOW;
        rows.xs.iter_mut().zip(&self.xs).for_each(|(row, words)| *row = is_full(words));
        rows.ds.iter_mut().zip(&self.ds[y0 - at.y0..]).for_each(|(row, words)| *row = is_full(words));
    }
}

impl FullRows {
    pub fn new() -> Self {
        FullRows { xs: [false; TILE], ds: [false; FRONT + 3 * BAND] }
    }

    /// Whether the row of the `x` that is `of` heaps into the tile is full, or outside of it.
    #[inline(always)]
    pub fn x(&self, of: usize) -> bool {
        self.xs.get(of).is_none_or(|is_full| *is_full)
    }

    /// Whether the row of the `d` that belongs to the first layer and that `x` is; `of` may be two less than 0.
    #[inline(always)]
    pub fn d(&self, of: isize) -> bool {
        self.ds[(FRONT as isize - of) as usize]
    }
}
