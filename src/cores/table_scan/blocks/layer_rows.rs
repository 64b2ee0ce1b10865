//! `gap[y]` of the layers of a superband.
//!
//! The place of `z - x` in the row of layer `k` of its band is `z - x - k`. In a step, where `x = t - k`, that is `z - t` for all
//! layers: their windows begin at one place.

use super::{BAND, BANDS};
use crate::simd::bits::WORD;
use crate::simd::line::{Line, Lines, PLACES};

/// Places before that of difference 0: more than `x + k - z`, which is largest at the first candidate of a segment that has `y`
/// of the same band. A whole number of lines.
const FRONT: usize = 2 * PLACES;

/// The rows of all bands: for each band the lines of its layers for the first 512 places, then those for the next, and so on.
pub struct LayerRows {
    lines: Lines,
    /// Blocks of places.
    blocks: usize,
}

impl LayerRows {
    fn blocks(heaps: usize) -> usize {
        (FRONT + heaps).div_ceil(PLACES) + 2
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
        let place = FRONT + z - t;
        let lines = &self.lines[(band * self.blocks + place / PLACES) * BAND..];
        let (low, high) = lines.split_first_chunk().expect("a block of places");
        ([low, high.first_chunk().expect("the next block")], place % PLACES)
    }

    /// Marks 64 differences from a multiple of 64 on in the row of layer `k`.
    pub fn set(&self, band: usize, k: usize, gap: usize, bits: u64) {
        let place = FRONT + gap - k;
        let line = |word: usize| {
            let block = word * WORD / PLACES;
            &self.lines[(band * self.blocks + block) * BAND + k]
        };
        let (word, shift) = (place / WORD, place % WORD);
        line(word).set(word, bits << shift);
        line(word + 1).set(word + 1, bits >> 1 >> (WORD - 1 - shift));
    }
}
