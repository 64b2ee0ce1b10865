//! The marks that a band makes, and how it reads those of earlier bands.
//!
//! Of the five marks that a P-position makes for later layers, the one in `gap[z]` at `d` hits a different cache line
//! each time, long before it is read: layer `x` reads places `z - x` and above, so the layer `x'` that makes the mark
//! is earlier by at least `z - y` layers. It is the mark in `two[d]` at `z`, transposed. So it is not made: before a
//! band reaches rows `c..c + 64` of `gap`, the columns that become readable there are transposed from `two`, 64 by 64
//! bits at a time. Marks with `z - y < K` are made at once.

use std::arch::x86_64::*;

use super::{Band, K, LANES, RowStarts, Rule, add, ones, sub};
use crate::simd::avx512::lanes_of;
use crate::simd::bits::{WORD, transpose};
use crate::simd::field::WordsToMark;

impl Band<'_> {
    /// Fills `used` with the pairs that earlier bands used: 64 steps at a time, by transposing rows of layers.
    #[inline(always)]
    pub fn find_used(&mut self) {
        let (heaps, x0) = (self.layout.heaps, self.x0);
        let blocks = (heaps + K) / WORD + 1;
        self.used = vec![u64::MAX; blocks * WORD];
        // The used pairs in a word of `one[x]`; there are no pairs below the diagonal or past the last heap.
        let pairs = |x: usize, word: usize| {
            if word < x / WORD || word > heaps / WORD {
                return u64::MAX;
            }
            let below = if word == x / WORD { !(u64::MAX << (x % WORD)) } else { 0 };
            let past = if word == heaps / WORD { u64::MAX << (heaps % WORD) } else { 0 };
            self.marks.word(self.layout.one(x) + word) | below | past
        };
        for block in x0 / WORD..blocks {
            let mut tile = [u64::MAX; WORD];
            for (k, row) in tile.iter_mut().enumerate().take(self.layers) {
                // Step `t` has the pair of `y = t - k`.
                let before = block.checked_sub(1).map_or(u64::MAX, |before| pairs(x0 + k, before));
                *row = pairs(x0 + k, block) << k | before >> 1 >> (WORD - 1 - k);
            }
            transpose(&mut tile);
            self.used[block * WORD..][..WORD].copy_from_slice(&tile);
        }
    }

    /// Transposes marks into rows `c..c + 64` of `gap`: the columns that layers of this band are the first to read.
    #[inline(always)]
    pub fn transpose_into_gap(&self, c: usize) {
        let heaps = self.layout.heaps;
        let first = (c + 1).saturating_sub(self.x0 + K);
        let last = c + WORD - 1 - self.x0.min(c);
        for d in (first / WORD * WORD..=last.min(c)).step_by(WORD) {
            let mut tile = [0; WORD];
            for (d, row) in (d..heaps).zip(&mut tile) {
                *row = self.marks.word(self.layout.two(d) + c / WORD);
            }
            if tile.iter().all(|row| *row == 0) {
                continue;
            }
            transpose(&mut tile);
            // Not the rows before the band: only the band before reads them again, and it may be marking them.
            for (c, row) in (c..heaps).zip(tile).skip(self.x0.saturating_sub(c)) {
                self.set(self.layout.gap(c) + d / WORD, row);
            }
        }
    }

    /// Marks the results, in the rows that were searched and in `used`.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    pub fn mark(&mut self, rows: &RowStarts, layers: &[u32; LANES], z: __m512i, rule: Rule) {
        let words = |row, place| self.marks.marks(add(row, _mm512_srai_epi32::<6>(place)), rows.lanes);
        let (g, e) = (sub(z, rows.x), sub(z, rows.y));
        let (one_x, one_y, two) = (words(rows.one_x, z), words(rows.one_y, z), words(rows.two, z));
        let (gap_y, all, gap_x) = (words(rows.gap_y, g), words(rows.all, g), words(rows.gap_x, e));
        let [z, g, e]: [[u32; LANES]; 3] = [lanes_of(z), lanes_of(g), lanes_of(e)];
        for i in ones(rows.lanes) {
            let mark = |words: &WordsToMark, bit| {
                if words.mark(i, bit) {
                    self.sum_up(words.at(i));
                }
            };
            mark(&one_x, z[i]);
            mark(&one_y, z[i]);
            mark(&two, z[i]);
            mark(&gap_y, g[i]);
            if rule == Rule::AllMoves {
                mark(&all, g[i]);
            }
            mark(&gap_x, e[i]);
            let k = layers[i] as usize % WORD;
            self.used[z[i] as usize + k] |= 1 << k;
        }
    }

    /// Makes the marks that this band itself reads again: a pair of two of its layers in `used`, and `gap[z]` if `z` is
    /// near.
    #[inline(always)]
    pub fn mark_near(&mut self, t: usize, layers: &[u32; LANES], z: &[u32; LANES], near: u16) {
        for i in ones(near) {
            let k = layers[i] as usize % WORD;
            let (x, y, z) = (self.x0 + k, t - k, z[i] as usize);
            if y < self.x0 + self.layers {
                self.used[z + y - self.x0] |= 1 << (y - self.x0);
            }
            if z - y < K {
                self.set(self.layout.gap(z) + (y - x) / WORD, 1 << ((y - x) % WORD));
            }
        }
    }

    /// Sets bits of one word and updates its summary.
    #[inline(always)]
    fn set(&self, at: usize, bits: u64) {
        if self.marks.set(at, bits) {
            self.sum_up(at);
        }
    }

    /// Records that a word is full.
    #[inline(always)]
    fn sum_up(&self, at: usize) {
        self.full.set_shared(at / WORD, 1 << (at % WORD));
    }
}
