//! Rows of a cache line in registers of 256 and of 512 bits.

use std::arch::x86_64::*;

use super::{K, LineVisit, Parts, Search, SearchEnd};
use crate::machine::isa::tier;

#[cfg(feature = "avx2")]
pub mod avx2 {
    //! A row of marks in two registers.
    //!
    //! AVX2 has no funnel shift: it is two shifts and an OR. The next words of the rows by `z - y0` come from a permute
    //! within the row, those of `gap[y]` from a load one byte further. The word in which a search ends is read from memory,
    //! because a lane cannot be extracted from a vector by a variable index.
    //!
    //! Cost: six lines per search, one of which is loaded twice; `1.3` searches per P-position.
    //! Bound: the width of the core. A search is 72 instructions, which take thirteen cycles on Zen 4 (llvm-mca); its 14
    //! loads of 32 bytes take seven.

    use super::*;
    use crate::simd::avx2::{load, store};

    /// Words in a register.
    const WORDS: usize = 8;

    #[inline]
    #[tier(Avx2)]
    pub fn parts() -> Parts<impl Search, impl Search> {
        Parts { wide: |visit: LineVisit<'_>| search(&visit), narrow: |visit: LineVisit<'_>| search_narrow(&visit) }
    }

    /// The number of a layer and its complement, loaded as shift counts.
    static SHIFTS: [[i32; 2]; K] = {
        let mut shifts = [[0; 2]; K];
        let mut k = 0;
        while k < K {
            shifts[k] = [k as i32, (K - k) as i32];
            k += 1;
        }
        shifts
    };

    #[inline]
    #[tier(Avx2)]
    fn search(visit: &LineVisit<'_>) -> SearchEnd {
        let (low, high) = (by_z::<0>(visit), by_z::<WORDS>(visit));
        let (low_next, high_next) = (next_words(low), next_words(high));
        // The last word of the lower half is followed by the first one of the upper half.
        let low_next = _mm256_blend_epi32::<0b1000_0000>(low_next, high_next);
        let low = forbidden::<0>(visit, low, low_next);
        let high = forbidden::<WORDS>(visit, high, high_next);
        let full = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(is_full(low), is_full(high)));
        let word = (_mm256_movemask_epi8(full) as u32).trailing_ones() / 2;
        let mut words = [[0; WORDS]; 2];
        store::<u32, WORDS>(&mut words[0], low);
        store::<u32, WORDS>(&mut words[1], high);
        SearchEnd { word, bit: words.as_flattened()[word as usize % (2 * WORDS)].trailing_ones() }
    }

    #[inline]
    #[tier(Avx2)]
    fn search_narrow(visit: &LineVisit<'_>) -> SearchEnd {
        let low = by_z::<0>(visit);
        let low = forbidden::<0>(visit, low, next_words(low));
        let word = (_mm256_movemask_ps(_mm256_castsi256_ps(is_full(low))) as u32).trailing_ones();
        let mut words = [0; WORDS];
        store::<u32, WORDS>(&mut words, low);
        SearchEnd { word, bit: words[word as usize % WORDS].trailing_ones() }
    }

    /// The marks at `z - y0` of eight words.
    #[inline]
    #[tier(Avx2)]
    fn by_z<const FROM: usize>(LineVisit { x, d, .. }: &LineVisit<'_>) -> __m256i {
        _mm256_or_si256(load(x.by_z::<WORDS>(FROM)), load(d.by_z::<WORDS>(FROM)))
    }

    /// Each word's next one. The last word gets the first one, which does not matter at the end of a row.
    #[inline]
    #[tier(Avx2)]
    fn next_words(words: __m256i) -> __m256i {
        _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0))
    }

    /// The marks of all six rows at `z - y` of eight words, with those at `z - y0` given.
    #[inline]
    #[tier(Avx2)]
    fn forbidden<const FROM: usize>(visit: &LineVisit<'_>, by_z: __m256i, by_z_next: __m256i) -> __m256i {
        let LineVisit { x, d, y, k, base } = visit;
        let [down, up] = SHIFTS[*k];
        let (down, up) = (_mm256_set1_epi32(down), _mm256_set1_epi32(up));
        let by_z = funnel(by_z, by_z_next, down, up);
        let (first, shift) = (base / 8 + 4 * FROM, (base % 8) as i32);
        let gap_y = |byte| load(y.gap::<WORDS>(byte).as_flattened().first_chunk::<{ 4 * WORDS }>().expect("its bytes"));
        let gap_y = funnel(gap_y(first), gap_y(first + 1), _mm256_set1_epi32(shift), _mm256_set1_epi32(8 - shift));
        let part = |line: &[u32; 2 * WORDS]| load(line[FROM..].first_chunk::<WORDS>().expect("part of a line"));
        let of_layer = _mm256_or_si256(_mm256_or_si256(by_z, gap_y), part(y.one()));
        _mm256_or_si256(_mm256_or_si256(of_layer, part(x.by_gap())), part(d.by_gap()))
    }

    /// Words from bit `down` of `low` on, with `high` moved up by `up` above it.
    #[inline]
    #[tier(Avx2)]
    fn funnel(low: __m256i, high: __m256i, down: __m256i, up: __m256i) -> __m256i {
        _mm256_or_si256(_mm256_srlv_epi32(low, down), _mm256_sllv_epi32(high, up))
    }

    /// All ones in the words without a free place.
    #[inline]
    #[tier(Avx2)]
    fn is_full(words: __m256i) -> __m256i {
        _mm256_cmpeq_epi32(words, _mm256_set1_epi32(-1))
    }
}

#[cfg(feature = "avx512")]
pub mod avx512 {
    //! A row of marks in one register.
    //!
    //! Cost: six lines per search, one of which straddles two; `1.3` searches per P-position.
    //! Bound: loads. A search is 35 instructions, which could run in seven cycles (llvm-mca). Its lines take eight cycles
    //! at one load of 64 bytes a cycle, and it takes about ten if everything is at hand. Marking is six stores, in nine
    //! cycles. Searches are about half of the time, marks three tenths, moving the rows on a tenth.

    use super::*;
    use crate::simd::{avx2, avx512};

    #[inline]
    #[tier(Avx512)]
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

    macro_rules! search {
        ($search:ident, $words:literal, $load:path, $set1:ident, $or:ident, $or3:ident, $shrdv:ident, $alignr:ident, $test:ident,
            $compress:ident, $low:expr) => {
            #[inline]
            #[tier(Avx512)]
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
}
