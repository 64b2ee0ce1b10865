//! A row of marks in one register.
//!
//! Cost: six lines per search, one of which straddles two; `1.3` searches per P-position.
//! Bound: loads. A search is 35 instructions, which could run in seven cycles (llvm-mca). Its lines take eight cycles
//! at one load of 64 bytes a cycle, and it takes about ten if everything is at hand. Marking is six stores, in nine
//! cycles. Searches are about half of the time, marks three tenths, moving the rows on a tenth.

use std::arch::x86_64::*;

use super::{K, LineVisit, Parts, Search, SearchEnd};
use crate::simd::{avx2, avx512};

/// The parts of this tier.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn parts() -> Parts<impl Search, impl Search> {
    Parts { wide: |visit: LineVisit<'_>| search(visit), narrow: |visit: LineVisit<'_>| search_narrow(visit) }
}

/// The numbers of the layers, loaded as shift counts.
static SHIFTS: [i32; K] = {
    let mut shifts = [0; K];
    let mut k = 0;
    while k < K {
        shifts[k] = k as i32;
        k += 1;
    }
    shifts
};

/// The search at one width.
macro_rules! search {
    ($search:ident, $words:literal, $load:path, $set1:ident, $or:ident, $or3:ident, $shrdv:ident, $alignr:ident, $test:ident,
        $compress:ident, $low:expr) => {
        #[inline]
        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
        fn $search(LineVisit { x, d, y, k, base }: LineVisit<'_>) -> SearchEnd {
            let by_z = $or($load(x.by_z::<$words>(0)), $load(d.by_z::<$words>(0)));
            // The bits shifted in come from the other end of the row and do not matter. All ones instead took half as
            // long again: see `NOTES.md`.
            let by_z = $shrdv(by_z, $alignr::<1>(by_z, by_z), $set1(SHIFTS[k]));
            let gap_y =
                $load(y.gap::<$words>(base / 8).as_flattened().first_chunk::<{ 4 * $words }>().expect("its bytes"));
            let gap_y = $shrdv(gap_y, $alignr::<1>(gap_y, gap_y), $set1((base % 8) as i32));
            let by_gap = $or3::<0xFE>(by_z, gap_y, $load(y.one::<$words>()));
            let free = $or3::<0x01>(by_gap, $load(x.by_gap::<$words>()), $load(d.by_gap::<$words>()));
            let words = $test(free, free);
            let bits = _mm_cvtsi128_si32($low($compress(words, free)));
            SearchEnd { word: u32::from(words).trailing_zeros(), bit: bits.trailing_zeros() }
        }
    };
}
search! {
    search, 16, avx512::load, _mm512_set1_epi32, _mm512_or_si512, _mm512_ternarylogic_epi32, _mm512_shrdv_epi32,
    _mm512_alignr_epi32, _mm512_test_epi32_mask, _mm512_maskz_compress_epi32, _mm512_castsi512_si128
}
search! {
    search_narrow, 8, avx2::load, _mm256_set1_epi32, _mm256_or_si256, _mm256_ternarylogic_epi32, _mm256_shrdv_epi32,
    _mm256_alignr_epi32, _mm256_test_epi32_mask, _mm256_maskz_compress_epi32, _mm256_castsi256_si128
}
