//! The search without skipping: windows of 256 candidates from the hint on, one after the other.
//!
//! With `z` as the frame, `one[x]`, `one[y]` and `two[d]` need no shift; `gap[y]` and `all[d]` are ORed first and
//! shifted once, by `x`; `gap[x]` is shifted by `y`. The start is rounded down, which is harmless: the differences
//! below the hint are used, and `gap[x]` has ones in front.

use std::arch::x86_64::*;
use std::array::from_fn;

use super::vectors::{LANES, add, ones, splat, sub};
use super::{Band, RowStarts};
use crate::simd::avx512::{lanes_of, load};
use crate::simd::field::HalfWindows;

/// Candidates in a window.
const WINDOW: usize = 256;

impl<const H: usize, const SKIP: bool> Band<'_, H, SKIP> {
    /// The first free candidate of each pair, at least `heaps` where there is none.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    pub fn search(&self, rows: &RowStarts, start: &[u32; LANES], found: &mut [u32; LANES]) {
        let (layout, marks, lanes) = (self.layout, self.marks, rows.lanes);
        // The byte of a bit, rounded down.
        let below = |bits| _mm512_srai_epi32::<3>(bits);
        let z = below(load(start));
        let minus = |heap| sub(_mm512_setzero_si512(), heap);
        let (g, e) = (add(z, below(minus(rows.x))), add(z, below(minus(rows.y))));
        let windows = |row, from| marks.half_windows(add(_mm512_slli_epi32::<3>(row), from), lanes);
        let (one_x, one_y, two) = (windows(rows.one_x, z), windows(rows.one_y, z), windows(rows.two, z));
        let (gap_y, all, gap_x) = (windows(rows.gap_y, g), windows(rows.all, g), windows(rows.gap_x, e));
        let shifts = |heap| lanes_of(_mm512_and_si512(minus(heap), splat(7)));
        let (by_x, by_y): ([u32; LANES], [u32; LANES]) = (shifts(rows.x), shifts(rows.y));
        let starts: [u32; LANES] = lanes_of(_mm512_slli_epi32::<3>(z));

        let or3 = |a, b, c| _mm256_ternarylogic_epi64::<0xFE>(a, b, c);
        // The candidates that six windows forbid. Windows in a frame other than that of `z` come with the window one
        // word further on.
        let forbid = |i: usize, [one_x, one_y, two]: [__m256i; 3], [gap_y, all, gap_x]: [[__m256i; 2]; 3]| {
            let (by_x, by_y) = (_mm256_set1_epi32(by_x[i] as i32), _mm256_set1_epi32(by_y[i] as i32));
            let both: [__m256i; 2] = from_fn(|j| _mm256_or_si256(gap_y[j], all[j]));
            or3(
                or3(one_x, one_y, two),
                _mm256_shrdv_epi64(both[0], both[1], by_x),
                _mm256_shrdv_epi64(gap_x[0], gap_x[1], by_y),
            )
        };
        // The windows `skip` bytes further on.
        let look = |i: usize, skip: usize| {
            let at = |place: usize| marks.half_window(place + skip);
            let pair = |place: usize| [at(place), at(place + 8)];
            let in_z = [at(one_x.at(i)), at(one_y.at(i)), at(two.at(i))];
            forbid(i, in_z, [pair(gap_y.at(i)), pair(all.at(i)), pair(gap_x.at(i))])
        };

        let full = _mm256_set1_epi8(-1);
        let free_bytes = |forbidden| _mm256_cmpneq_epi8_mask(forbidden, full);
        // The first free candidate, `skip` bytes after the start; 256 candidates further on if there is none.
        let first = |i: usize, skip: usize, forbidden, free: u32| {
            let byte = _mm256_castsi256_si128(_mm256_maskz_compress_epi8(free, forbidden));
            let bits = (_mm_cvtsi128_si32(byte) as u32).trailing_ones();
            starts[i] + 8 * skip as u32 + 8 * free.trailing_zeros() + bits
        };
        let last = |i: usize| layout.heaps.saturating_sub(starts[i] as usize) / 8;
        // One window each, without a branch; then the searches that need more.
        let mut again = 0;
        for i in ones(lanes) {
            let pair = |places: &HalfWindows| [places.window(i), places.next_window(i)];
            let in_z = [one_x.window(i), one_y.window(i), two.window(i)];
            let forbidden = forbid(i, in_z, [pair(&gap_y), pair(&all), pair(&gap_x)]);
            let free = free_bytes(forbidden);
            again |= u16::from(free == 0) << i;
            found[i] = first(i, 0, forbidden, free);
        }
        for i in ones(again) {
            let mut skip = 0;
            let (mut forbidden, mut free) = (full, 0);
            while free == 0 && skip <= last(i) {
                skip += WINDOW / 8;
                forbidden = look(i, skip);
                free = free_bytes(forbidden);
            }
            found[i] = first(i, skip, forbidden, free);
        }
    }
}
