//! `bit_rows` with 256 candidates at once. A window at any bit offset is two loads, a word apart, and two shifts.
//!
//! Cost: `0.09 N / 256 + 1` windows for each of `0.18 N^2` visits.
//! Bound: shifts (two of them and an OR for each row), then loads.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
};

use super::bit_rows::{Words, span};
use super::layers::{Places, bytes, scan};
use super::{Sink, StoneGame};
use crate::bits::{WORD, first_zero};
use crate::kernel::{Cost, On, Run, Stop};
use crate::simd::avx2::{load, store};

const WORDS: usize = 4;
const LANES: usize = WORDS * WORD;

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.001 * n * n * n + 4.5 * n * n, bytes: bytes(input, 1.0) }
}

#[target_feature(enable = "avx2,bmi1")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    let row = |marks: &Words, place: usize| -> __m256i {
        let (low, high, shift) = span::<WORDS>(marks, place);
        // A shift by 64 gives zero.
        let (down, up) = (_mm_cvtsi64_si128(shift as i64), _mm_cvtsi64_si128((WORD - shift) as i64));
        _mm256_or_si256(_mm256_srl_epi64(load(low), down), _mm256_sll_epi64(load(high), up))
    };
    scan::<LANES, _, S>(input, run, |marks: &Words, rows: Places| {
        let forbidden = rows[1..].iter().fold(row(marks, rows[0]), |v, place| _mm256_or_si256(v, row(marks, *place)));
        let full = _mm256_cmpeq_epi64(forbidden, _mm256_set1_epi64x(-1));
        let word = first_zero(_mm256_movemask_pd(_mm256_castsi256_pd(full)) as u64);
        if word == WORDS {
            return LANES;
        }
        let mut words = [0; WORDS];
        store(&mut words, forbidden);
        word * WORD + first_zero(words[word])
    })
}
