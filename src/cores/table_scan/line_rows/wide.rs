//! A row of marks in one portable vector of the crate `wide`, which the build maps to one register of AVX-512, two of AVX2 or four
//! of SSE2.
//!
//! `wide` has no funnel shift, so a shifted row is loaded twice, the second time from the next word on. Words have 32
//! bits, because SSE2 cannot compare longer ones. The word in which a search ends is read from memory, because a lane
//! cannot be extracted from a vector by a variable index.
//!
//! Cost: nine loads of a line per search, four of which straddle two lines; `1.3` searches per P-position.
//! Bound: in a native build loads, as in `line_rows_avx512`; in a default one the operations of a search, each of them
//! four times.

use wide::{u32x8, u32x16};

use super::{LineVisit, Parts, Search, SearchEnd};

/// The parts in these vectors.
#[inline(always)]
pub fn parts() -> Parts<impl Search, impl Search> {
    Parts { wide: search, narrow: search_narrow }
}

/// The search at one width.
macro_rules! search {
    ($search:ident, $words:literal, $vector:ident) => {
        #[inline(always)]
        fn $search(LineVisit { x, d, y, k, base }: LineVisit<'_>) -> SearchEnd {
            let load = |words: &[u32; $words]| $vector::new(*words);
            let by_z = |word| load(x.by_z(word)) | load(d.by_z(word));
            let gap_y = |byte| load(&y.gap(byte).map(u32::from_le_bytes));
            let funnel =
                |low: $vector, high: $vector, shift: usize| low >> shift as u32 | high << 1_u32 << (31 - shift) as u32;
            let forbidden: $vector = funnel(by_z(0), by_z(1), k)
                | funnel(gap_y(base / 8), gap_y(base / 8 + 4), base % 8)
                | load(y.one())
                | load(x.by_gap())
                | load(d.by_gap());
            let word = forbidden.simd_eq($vector::splat(u32::MAX)).to_bitmask().trailing_ones();
            SearchEnd { word, bit: forbidden.to_array()[word as usize % $words].trailing_ones() }
        }
    };
}
search!(search, 16, u32x16);
search!(search_narrow, 8, u32x8);
