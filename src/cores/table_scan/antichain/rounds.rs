//! The search with skipping: all pairs of a step in rounds, over words that no row is known to fill.
//!
//! In the first round each pair searches a window of 512 candidates, and the pairs without a result are listed for the
//! next round. No branch depends on the result of one pair: how long a search continues is unpredictable, and a
//! mispredicted end would also stall the loads of the pairs that follow. Later rounds skip words that are full in a
//! row, by a summary with a bit for each word.

use std::arch::x86_64::*;

use super::layout::Layout;
use super::{Band, H, K, LANES, Pairs, RowStarts, add, splat, sub};
use crate::simd::avx512::{lanes_of, load};
use crate::simd::bits::WORD;
use crate::simd::field::{Field, SearchStarts};

/// Words that a window is sure to cover whole, whatever the shift.
const WORDS_SEEN: usize = 7;
/// Words whose summary is read together: a read at any bit holds 57, and a word in another frame needs two.
const SUMMED: u64 = u64::MAX >> 8;

// The rows of a search, in the order of their places.
const ONE_X: usize = 0;
const ONE_Y: usize = 1;
const TWO: usize = 2;
const GAP_Y: usize = 3;
const ALL: usize = 4;
const GAP_X: usize = 5;

/// The searches of a step.
struct Searches<'a> {
    places: SearchStarts<'a, 6>,
    /// The first candidate of each, rounded down to a word for the summary.
    starts: [[u32; LANES]; H],
    /// The shift of `gap[y]` and `all[d]`, and that of `gap[x]`.
    by_x: [[u32; LANES]; H],
    by_y: [[u32; LANES]; H],
}

impl<'a> Searches<'a> {
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    fn new(marks: &'a Field, heaps: usize, rows: &[RowStarts; H], pairs: &[Pairs; H]) -> Self {
        let mut places = marks.starts(Layout::reach(heaps));
        let [mut starts, mut by_x, mut by_y] = [[[0; LANES]; H]; 3];
        for (part, rows) in rows.iter().enumerate() {
            let bytes = |bits| _mm512_srai_epi32::<3>(bits);
            let minus = |heap| sub(_mm512_setzero_si512(), heap);
            let start = _mm512_andnot_si512(splat(WORD - 1), load(&pairs[part].start));
            let z = bytes(start);
            let (g, e) = (add(z, bytes(minus(rows.x))), add(z, bytes(minus(rows.y))));
            for (row, words, from) in [
                (ONE_X, rows.one_x, z),
                (ONE_Y, rows.one_y, z),
                (TWO, rows.two, z),
                (GAP_Y, rows.gap_y, g),
                (ALL, rows.all, g),
                (GAP_X, rows.gap_x, e),
            ] {
                places.set(row, part, add(_mm512_slli_epi32::<3>(words), from), rows.lanes);
            }
            let shifts = |heap| lanes_of(_mm512_and_si512(minus(heap), splat(7)));
            (starts[part], by_x[part], by_y[part]) = (lanes_of(start), shifts(rows.x), shifts(rows.y));
        }
        Searches { places, starts, by_x, by_y }
    }

    /// The first candidate of search `i`.
    #[inline(always)]
    fn start(&self, i: usize) -> usize {
        self.starts.as_flattened()[i] as usize
    }

    /// The first free candidate of the window `skip` bytes after the start, and whether there is none. It must be
    /// inlined: as a closure it was not, and the whole kernel was a sixth slower.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    fn look(&self, i: usize, skip: usize) -> (u32, bool) {
        let at = |row| self.places.window(row, i, skip);
        let or3 = |a, b, c| _mm512_ternarylogic_epi64::<0xFE>(a, b, c);
        let shift = |row, by: &[[u32; LANES]; H]| {
            let next = _mm512_alignr_epi64::<1>(_mm512_set1_epi64(-1), row);
            _mm512_shrdv_epi64(row, next, _mm512_set1_epi32(by.as_flattened()[i] as i32))
        };
        let by_z = or3(at(ONE_X), at(ONE_Y), at(TWO));
        let less_x = shift(_mm512_or_si512(at(GAP_Y), at(ALL)), &self.by_x);
        let free = _mm512_ternarylogic_epi64::<0x01>(by_z, less_x, shift(at(GAP_X), &self.by_y));
        let words = _mm512_test_epi64_mask(free, free);
        let word = _mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(words, free)));
        let bit = WORD as u32 * u32::from(words).trailing_zeros() + word.trailing_zeros();
        ((self.start(i) + 8 * skip) as u32 + bit, words == 0)
    }

    /// The words, from `seen` words after the start on, that no row is known to fill, by a summary with a bit for each
    /// full word.
    #[inline(always)]
    fn open_words(&self, full: &Field, i: usize, seen: usize) -> u64 {
        let sum = |row| full.bits(self.places.at(row, i) / 8 + seen);
        // A word of the frame lies in two words of a row in another frame.
        let both = |words: u64| words & words >> 1;
        let by_z = sum(ONE_X) | sum(ONE_Y) | sum(TWO);
        !(by_z | both(sum(GAP_Y) | sum(ALL)) | both(sum(GAP_X))) & SUMMED
    }
}

impl Band<'_> {
    /// The first free candidate of each pair of a step, at least `heaps` where there is none.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    pub fn search_in_rounds(&self, rows: &[RowStarts; H], pairs: &[Pairs; H], found: &mut [[u32; LANES]; H]) {
        let (heaps, marks) = (self.layout.heaps, self.marks);
        let searches = Searches::new(marks, heaps, rows, pairs);
        let found = found.as_flattened_mut();
        let mut again = [0_u8; WORD + 1];
        let mut left = 0;
        let mut listed = 0;
        for pairs in pairs {
            listed += pairs.lanes.count_ones() as usize;
        }
        for (i, found) in found[..listed].iter_mut().enumerate() {
            let none;
            (*found, none) = searches.look(i, 0);
            again[left] = i as u8;
            left += usize::from(none);
        }
        // The open words before word `seen` from the start that are still unread; the bytes from the start to the
        // window.
        let (mut open, mut seen, mut skip) = ([0_u64; WORD], [WORDS_SEEN; WORD], [0; WORD]);
        while left != 0 {
            // First compute the places of the next windows and prefetch their lines; most have arrived by the time they
            // are read.
            let mut going = 0;
            for j in 0..left {
                let i = again[j] as usize % K;
                while open[i] == 0 && searches.start(i) + WORD * seen[i] < heaps {
                    open[i] = searches.open_words(self.full, i, seen[i]);
                    seen[i] += SUMMED.count_ones() as usize;
                }
                // Without an open word this is past the last heap.
                skip[i] = 8 * (seen[i] + open[i].trailing_zeros() as usize - SUMMED.count_ones() as usize);
                for row in ONE_X..=GAP_X {
                    let at = searches.places.at(row, i) + skip[i];
                    // The lines of its first and last byte.
                    marks.prefetch(at);
                    marks.prefetch(at + 63);
                }
                found[i] = heaps as u32;
                again[going] = i as u8;
                going += usize::from(searches.start(i) + 8 * skip[i] < heaps);
            }
            left = 0;
            for j in 0..going {
                let i = again[j] as usize % K;
                let none;
                (found[i], none) = searches.look(i, skip[i]);
                open[i] &= !(((1 << WORDS_SEEN) - 1) << open[i].trailing_zeros());
                again[left] = i as u8;
                left += usize::from(none);
            }
        }
    }
}
