//! A line in one register.
//!
//! A window in a frame that a layer or a step moves is two permutes of two lines and a funnel shift. A search only stores which
//! candidates are free: one in three finds some, and only then is the first of them looked for.
//!
//! Bound: instructions. A search is 48 of them and takes ten cycles on Zen 5, though none is slow. Searches are two fifths of the
//! time, marks a quarter, looking for full rows a tenth. The lines of a band just fill L1.

use std::arch::x86_64::*;

use super::{BAND, Found, Loops, Step, Visit, loops};
use crate::simd::avx512::store;
use crate::simd::bits::WORD;
use crate::simd::line::Line;

/// The parts of this tier.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn parts() -> Loops {
    loops!(search, full_words)
}

/// Searches the pairs of a step; returns those that found something.
#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
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
#[target_feature(enable = "avx512f")]
fn words_from(word: usize) -> __m512i {
    _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(word as i64))
}

/// A bit for each word of a line that has no free place.
#[inline]
#[target_feature(enable = "avx512f")]
fn full_words(line: &Line) -> u8 {
    _mm512_cmpeq_epi64_mask(line.load(), _mm512_set1_epi64(-1))
}
