//! Lines in registers of 256 and of 512 bits.

use std::arch::x86_64::*;

use super::{BAND, Found, Loops, Step, Visit, loops};
use crate::machine::isa::tier;
use crate::simd::bits::WORD;
use crate::simd::line::Line;

#[cfg(feature = "avx2")]
pub mod avx2 {
    //! A line in two registers.
    //!
    //! AVX2 has no permute of two registers: a window that starts at any word of two lines is three halves of a line, each rotated by
    //! words, and blended in pairs; another rotation gives the window one word further on. A funnel shift is two shifts and an OR.
    //!
    //! Cost: twice the loads of `avx512`, and four times the operations of a search.
    //! Bound: the twelve permutes of a search; Intel's cores do one a cycle.

    use super::*;
    use crate::simd::array_of;
    use crate::simd::avx2::{load, store};

    /// Words in a register.
    const WORDS: usize = 4;

    #[inline]
    #[tier(Avx2)]
    pub fn parts() -> Loops {
        loops!(search, full_words)
    }

    /// Searches the pairs of a step; returns those that found something.
    #[inline]
    #[tier(Avx2)]
    fn search(step: &Step<'_>, pairs: u64, found: &mut Found) -> u64 {
        match (step.word < WORDS, step.place < WORDS * WORD) {
            (true, true) => search_halves::<0, 0>(step, pairs, found),
            (true, false) => search_halves::<0, 1>(step, pairs, found),
            (false, true) => search_halves::<1, 0>(step, pairs, found),
            (false, false) => search_halves::<1, 1>(step, pairs, found),
        }
    }

    /// [`search`], given the halves in which the windows of differences and of layers begin.
    #[tier(Avx2)]
    fn search_halves<const GAP: usize, const LAYER: usize>(step: &Step<'_>, pairs: u64, found: &mut Found) -> u64 {
        let (gap_moves, layer_moves) = (Moves::new(step.word % WORDS), Moves::new(step.place / WORD % WORDS));
        let by = (step.place % WORD) as i64;
        let (down, up) = (_mm256_set1_epi64x(by), _mm256_set1_epi64x(WORD as i64 - by));
        let (mut left, mut hits) = (pairs, 0);
        while left != 0 {
            let k = left.trailing_zeros() as usize % BAND;
            left &= left - 1;
            let Visit { by_z: [one_x, one_y, two], gap, all, layer } = step.visit(k);
            let (before, by_gap) = gap_moves.windows(
                or(half(gap, GAP), half(all, GAP)),
                or(half(gap, GAP + 1), half(all, GAP + 1)),
                or(half(gap, GAP + 2), half(all, GAP + 2)),
            );
            let (layer, after) =
                layer_moves.windows(half(layer, LAYER), half(layer, LAYER + 1), half(layer, LAYER + 2));
            let (by, rest) = (_mm256_set1_epi64x(k as i64), _mm256_set1_epi64x((WORD - k) as i64));
            let mut full = 0;
            for i in 0..2 {
                let by_gap = or(_mm256_sllv_epi64(by_gap[i], by), _mm256_srlv_epi64(before[i], rest));
                let layer = or(_mm256_srlv_epi64(layer[i], down), _mm256_sllv_epi64(after[i], up));
                let by_z = or(or(one_x.load_half(i), one_y.load_half(i)), two.load_half(i));
                let free = _mm256_xor_si256(or(or(by_z, by_gap), layer), _mm256_set1_epi64x(-1));
                let none = _mm256_cmpeq_epi64(free, _mm256_setzero_si256());
                full |= _mm256_movemask_pd(_mm256_castsi256_pd(none)) << (WORDS * i);
                store(&mut found.free[k].0.as_chunks_mut::<WORDS>().0[i], free);
            }
            let words = !full as u8;
            found.words[k] = words;
            hits |= u64::from(words != 0) << k;
        }
        hits
    }

    #[inline]
    #[tier(Avx2)]
    fn or(a: __m256i, b: __m256i) -> __m256i {
        _mm256_or_si256(a, b)
    }

    /// One of the four halves of two lines.
    #[inline]
    #[tier(Avx2)]
    fn half(lines: [&Line; 2], half: usize) -> __m256i {
        lines[half / 2].load_half(half % 2)
    }

    /// How three halves make a window that starts at any word of the first, and the window one word further on.
    struct Moves([Move; 2]);

    struct Move {
        /// The words of a rotated half.
        rotated: __m256i,
        /// Those that come from the half after it.
        after: __m256i,
    }

    impl Moves {
        #[inline]
        #[tier(Avx2)]
        fn new(word: usize) -> Self {
            Moves([Move::new(word), Move::new(word + 1)])
        }

        #[inline]
        #[tier(Avx2)]
        fn windows(&self, a: __m256i, b: __m256i, c: __m256i) -> ([__m256i; 2], [__m256i; 2]) {
            (self.0[0].window(a, b, c), self.0[1].window(a, b, c))
        }
    }

    impl Move {
        #[inline]
        #[tier(Avx2)]
        fn new(word: usize) -> Self {
            let number: [u32; 8] = array_of(|half_word| ((half_word + 2 * word) % 8) as u32);
            let after: [u64; 4] = array_of(|i| if i + word < WORDS { 0 } else { u64::MAX });
            Move { rotated: load(&number), after: load(&after) }
        }

        #[inline]
        #[tier(Avx2)]
        fn window(&self, a: __m256i, b: __m256i, c: __m256i) -> [__m256i; 2] {
            let a = _mm256_permutevar8x32_epi32(a, self.rotated);
            let b = _mm256_permutevar8x32_epi32(b, self.rotated);
            let c = _mm256_permutevar8x32_epi32(c, self.rotated);
            [_mm256_blendv_epi8(a, b, self.after), _mm256_blendv_epi8(b, c, self.after)]
        }
    }

    /// A bit for each word of a line that has no free place.
    #[inline]
    #[tier(Avx2)]
    fn full_words(line: &Line) -> u8 {
        let full =
            |half: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(half, _mm256_set1_epi64x(-1))));
        (full(line.load_half(0)) | full(line.load_half(1)) << WORDS) as u8
    }
}

#[cfg(feature = "avx512")]
pub mod avx512 {
    //! A line in one register.
    //!
    //! A window in a frame that a layer or a step moves is two permutes of two lines and a funnel shift. A search only stores which
    //! candidates are free: one in three finds some, and only then is the first of them looked for.
    //!
    //! Bound: instructions. A search is 48 of them and takes ten cycles on Zen 5, though none is slow. Searches are two fifths of the
    //! time, marks a quarter, looking for full rows a tenth. The lines of a band just fill L1.

    use super::*;
    use crate::simd::avx512::store;

    #[inline]
    #[tier(Avx512)]
    pub fn parts() -> Loops {
        loops!(search, full_words)
    }

    /// Searches the pairs of a step; returns those that found something.
    #[inline]
    #[tier(Avx512)]
    fn search(step: &Step<'_>, pairs: u64, found: &mut Found) -> u64 {
        let gap_words = [words_from(step.word), words_from(step.word + 1)];
        let layer_words = [words_from(step.place / WORD), words_from(step.place / WORD + 1)];
        let by = _mm512_set1_epi64((step.place % WORD) as i64);
        let (mut left, mut hits) = (pairs, 0);
        while left != 0 {
            let k = left.trailing_zeros() as usize % BAND;
            left &= left - 1;
            let Visit { by_z: [one_x, one_y, two], gap, all, layer } = step.visit(k);
            let low = all[0].or(gap[0].load());
            let high = all[1].or(gap[1].load());
            let before = _mm512_permutex2var_epi64(low, gap_words[0], high);
            let by_gap = _mm512_permutex2var_epi64(low, gap_words[1], high);
            let by_gap = _mm512_shldv_epi64(by_gap, before, _mm512_set1_epi64(k as i64));
            let (low, high) = (layer[0].load(), layer[1].load());
            let after = _mm512_permutex2var_epi64(low, layer_words[1], high);
            let layer = _mm512_permutex2var_epi64(low, layer_words[0], high);
            let layer = _mm512_shrdv_epi64(layer, after, by);
            let by_z = two.or(one_y.or(one_x.load()));
            let free = _mm512_ternarylogic_epi64::<0x01>(by_z, by_gap, layer);
            let words = _mm512_test_epi64_mask(free, free);
            found.words[k] = words;
            store(&mut found.free[k].0, free);
            hits |= u64::from(words != 0) << k;
        }
        hits
    }

    /// The numbers of eight words from the given one on.
    #[inline]
    #[tier(Avx512)]
    fn words_from(word: usize) -> __m512i {
        _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(word as i64))
    }

    /// A bit for each word of a line that has no free place.
    #[inline]
    #[tier(Avx512)]
    fn full_words(line: &Line) -> u8 {
        _mm512_cmpeq_epi64_mask(line.load(), _mm512_set1_epi64(-1))
    }
}
