//! Which pairs are searched, and where the searches start.
//!
//! A row of `y` or `d` often begins with hundreds of candidates that it forbids by itself. Their number is looked up
//! once per band, some steps before the row is read, and a search starts at the furthest of five places. A pair for
//! which that is past the last heap, one in six at `N = 20000`, is not searched.

use std::arch::x86_64::*;

use super::{Band, H, K, LANE, LANES, Pairs, add, splat, sub};
use crate::simd::avx512::{load, store};
use crate::simd::bits::WORD;
use crate::simd::{array_of, mapped};

/// Steps between prefetching the first lines of a row and looking up how far it is filled.
const PREFETCH_AHEAD: usize = 6;
/// Steps from then to its first search.
const FILLED_AHEAD: usize = 6;
/// Lines that are prefetched where the searches of a row will start.
const PREFETCHED_LINES: usize = 4;
/// Entries before the first heap or difference, for lanes of vectors that hold no pair.
const FRONT: usize = 2 * WORD + LANES;

/// How far rows are filled: every place below these is marked in `one[y]`, `two[d]`, `gap[y]` and `all[d]`, from the
/// first place that is read on. The entry of heap or difference 0 comes after `FRONT` others.
pub struct Filled([Vec<u32>; 4]);

impl Filled {
    /// Nothing known of `heaps` heaps.
    pub fn new(heaps: usize) -> Self {
        let row = || vec![0; FRONT + heaps + 2 * WORD];
        Filled([row(), row(), row(), row()])
    }

    /// Bytes for `heaps` heaps.
    pub fn bytes(heaps: usize) -> f64 {
        16.0 * (FRONT + heaps + 2 * WORD) as f64
    }
}

impl Band<'_> {
    /// Looks up how far two rows of `y` and two of `d` are filled, some steps before they are first read. Prefetches
    /// the lines where searches in them will start, and the first lines of rows that come later.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    pub fn look_ahead(&mut self, t: usize) {
        let (layout, x) = (self.layout, self.x0);
        // Each row, the first place that any layer reads, and what is added to a place to get its candidate.
        let rows = |y: usize| {
            let (d, low) = (y - x, self.low);
            // The `d` of the last layer is smaller by this much.
            let gap = (d + low).saturating_sub(K - 1);
            [
                (layout.one(y), y + low, 0),
                (layout.two(d), y + low, 0),
                (layout.gap(y), gap, x),
                (layout.all(d), d + low, x),
            ]
        };
        let byte = |row: usize, place: usize| 8 * (row + place / WORD);
        let ahead = t + FILLED_AHEAD + PREFETCH_AHEAD;
        if ahead < layout.heaps {
            for (row, place, _) in rows(ahead) {
                self.marks.prefetch(byte(row, place));
                self.marks.prefetch(byte(row, place) + 64);
            }
        }
        let y = t + FILLED_AHEAD;
        if y >= layout.heaps {
            return;
        }
        let rows = rows(y);
        let filled = mapped(rows, |(row, place, _)| self.filled_to(row, place));
        for (i, entry) in [y, y - x, y, y - x].into_iter().enumerate() {
            self.filled.0[i][FRONT + entry] = filled[i] as u32;
        }
        let mut furthest = 0;
        for (i, (_, _, less)) in rows.iter().enumerate() {
            furthest = furthest.max(filled[i] + less);
        }
        for (row, _, less) in rows {
            let from = byte(row, furthest - less);
            for line in 0..PREFETCHED_LINES {
                self.marks.prefetch(from + 64 * line);
            }
        }
    }

    /// The end of the unbroken marks of a row from a place on, rounded down to a word.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn filled_to(&self, row: usize, place: usize) -> usize {
        let ones = _mm512_set1_epi64(-1);
        let mut word = place / WORD;
        let mut before = _mm512_maskz_set1_epi64(1, !(u64::MAX << (place % WORD)) as i64);
        loop {
            let marks = _mm512_or_si512(before, self.marks.window(8 * (row + word)));
            let full = _mm512_cmpeq_epi64_mask(marks, ones);
            word += full.trailing_ones() as usize;
            if full != u8::MAX || word * WORD >= self.layout.heaps {
                return word * WORD;
            }
            before = _mm512_setzero_si512();
        }
    }

    /// The pairs of step `t` that can have a P-position, in as few vectors as they fill. Searches start where rows are
    /// not filled.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    pub fn list(&self, t: usize) -> [Pairs; H] {
        // One vector longer, because each part stores a whole vector after the pairs before it.
        let (mut ks, mut starts) = ([0; WORD + LANES], [0; WORD + LANES]);
        let mut listed = 0;
        let max = |a, b| _mm512_max_epu32(a, b);
        let backwards = sub(splat(LANES - 1), load(&LANE));
        let odd_backwards = add(add(backwards, backwards), splat(1));
        for part in 0..H {
            let pairs = self.pairs(t, part);
            let k = load(&pairs.k);
            // As `k` grows by one, `y` falls by one and `d` by two.
            let of_y = |filled: &[u32]| {
                let from = FRONT + t - LANES * part - (LANES - 1);
                _mm512_permutexvar_epi32(backwards, load::<u32, LANES>(filled[from..].first_chunk().expect("a vector")))
            };
            let of_d = |filled: &[u32]| {
                let from = FRONT + t - self.x0 - 2 * LANES * part - (2 * LANES - 1);
                let both: &[u32; 2 * LANES] = filled[from..].first_chunk().expect("two vectors");
                let [low, high] = both.as_chunks::<LANES>().0 else { unreachable!("two vectors") };
                _mm512_permutex2var_epi32(load(low), odd_backwards, load(high))
            };
            let [one, two, gap, all] = &self.filled.0;
            let by_z = max(of_y(one), of_d(two));
            let by_g = add(add(splat(self.x0), k), max(of_y(gap), of_d(all)));
            let start = max(max(by_z, by_g), load(&pairs.start));
            let lanes = _mm512_mask_cmplt_epu32_mask(pairs.lanes, start, splat(self.layout.heaps));
            for (to, from) in [(&mut ks, k), (&mut starts, start)] {
                let to = to[listed..].first_chunk_mut::<LANES>().expect("a vector after the pairs");
                store(to, _mm512_maskz_compress_epi32(lanes, from));
            }
            listed += lanes.count_ones() as usize;
        }
        array_of(|part| {
            let lanes = listed.saturating_sub(LANES * part).min(LANES);
            let part_of = |list: &[u32; WORD + LANES]| list.as_chunks().0[part];
            Pairs { lanes: ((1_u32 << lanes) - 1) as u16, k: part_of(&ks), start: part_of(&starts) }
        })
    }
}
