//! `bit_rows` with 256 candidates at once. A window at any bit offset is two loads, a word apart, and two shifts.
//!
//! Cost: `0.3 M / 256` windows of four rows for each of `0.24 M` positions.
//! Bound: shifts (two of them and an OR for each row), then loads.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
};

use super::lines::scan;
use super::rows::{Rows, Window, bytes, place};
use super::{ProportionateNim, Sink};
use crate::bits::{WORD, first_zero};
use crate::kernel::{Cost, On, Run, Stop};
use crate::simd::avx2::{load, store};

const BITS: usize = 256;
const WORDS: usize = BITS / WORD;

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    let limit = input.limit() as f64;
    Cost { ns: 0.0007 * limit * limit + 5.0 * limit, bytes: bytes(input.limit()) }
}

#[target_feature(enable = "avx2,bmi1")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    let row = |(row, start): &(&[u64], isize), m: usize| -> __m256i {
        let at = place(*start, m);
        let (word, shift) = (at / WORD, at % WORD);
        let words = &row[word..word + WORDS + 1];
        let low = load(words.first_chunk::<WORDS>().expect("a whole vector"));
        let high = load(words.last_chunk::<WORDS>().expect("a whole vector"));
        // A shift by 64 gives zero.
        let (down, up) = (_mm_cvtsi64_si128(shift as i64), _mm_cvtsi64_si128((WORD - shift) as i64));
        _mm256_or_si256(_mm256_srl_epi64(low, down), _mm256_sll_epi64(high, up))
    };
    let first_free = |rows: &Window, m: usize| {
        let [a, b, c, d] = rows;
        let blocked = _mm256_or_si256(_mm256_or_si256(row(a, m), row(b, m)), _mm256_or_si256(row(c, m), row(d, m)));
        let full = _mm256_cmpeq_epi64(blocked, _mm256_set1_epi64x(-1));
        let word = first_zero(_mm256_movemask_pd(_mm256_castsi256_pd(full)) as u64);
        if word == WORDS {
            return BITS;
        }
        let mut words = [0; WORDS];
        store(&mut words, blocked);
        word * WORD + first_zero(words[word])
    };
    scan(input, run, |rows: &mut Rows, n, candidates| rows.find::<BITS>(n, candidates, first_free))
}
