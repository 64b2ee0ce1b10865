//! The driver of [`super::lines`] with a row of marks in one register.
//!
//! Cost: six lines a search, of which one is across two; `1.3` searches a P-position.
//! Bound: loads. A search is 35 instructions, which could pass in seven cycles (llvm-mca); its lines take eight at one load of 64
//! bytes a cycle, and it takes about ten where all is at hand. Marking is six stores, in nine cycles. Searches are about half of
//! the time, marks three tenths, moving the rows on a tenth.
//! What is shifted in is no constant: all ones were made anew in each search, by a `vpternlog` that waits for what its register
//! held, and a search took half as long again.

use std::arch::x86_64::*;

use super::lines::{Found, K, Visit, bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::{avx2, avx512};

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    Cost { ns: 0.98 * n * n + 40.0 * n + 1300.0, bytes: bytes(input) }
}

/// Six marks a P-position, and for each of its visits, four for three: six lines, of which two are moved by a word, as is the one
/// word that is looked at.
pub fn needs(input: &StoneGame) -> Needs {
    let bytes = 256.0 * input.heaps() as f64;
    Needs { bits: 6.0, loads: 1.3 * 6.0, permutes: 1.3 * 3.0, logic: 1.3 * 3.0, bytes, ..Needs::default() }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |visit| search(visit), |visit| search_narrow(visit))
}

/// The layers by number, to be loaded as shifts.
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
        fn $search(Visit { x, d, y, k, base }: Visit<'_>) -> Found {
            let by_z = $or($load(x.by_z::<$words>(0)), $load(d.by_z::<$words>(0)));
            // What is shifted in is of the row's other end, and does not matter.
            let by_z = $shrdv(by_z, $alignr::<1>(by_z, by_z), $set1(SHIFTS[k]));
            let gap_y =
                $load(y.gap::<$words>(base / 8).as_flattened().first_chunk::<{ 4 * $words }>().expect("its bytes"));
            let gap_y = $shrdv(gap_y, $alignr::<1>(gap_y, gap_y), $set1((base % 8) as i32));
            let by_gap = $or3::<0xFE>(by_z, gap_y, $load(y.one::<$words>()));
            let free = $or3::<0x01>(by_gap, $load(x.by_gap::<$words>()), $load(d.by_gap::<$words>()));
            let words = $test(free, free);
            let bits = _mm_cvtsi128_si32($low($compress(words, free)));
            Found { word: u32::from(words).trailing_zeros(), bit: bits.trailing_zeros() }
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
