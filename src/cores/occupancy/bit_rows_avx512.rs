//! `bit_rows` with 512 candidates at once. A window at any bit offset is two loads, a word apart, and one funnel shift
//! (`vpshrdvq`).
//!
//! Cost: `0.3 M / 512` windows of four rows for each of `0.24 M` positions.
//! Bound: loads, half of which straddle a cache line.

use std::arch::x86_64::{__m512i, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64, _mm512_shrdv_epi64};

use super::lines::scan;
use super::rows::{Rows, Window, bytes, place};
use super::{ProportionateNim, Sink};
use crate::bits::{WORD, first_zero};
use crate::kernel::{Cost, On, Run, Stop};
use crate::simd::avx512::{load, store};

const BITS: usize = 512;
const WORDS: usize = BITS / WORD;

pub fn cost(input: &ProportionateNim, _: On) -> Cost {
    let limit = input.limit() as f64;
    Cost { ns: 0.00045 * limit * limit + 5.0 * limit, bytes: bytes(input.limit()) }
}

#[target_feature(enable = "avx512f,avx512vbmi2")]
pub fn run<S: Sink>(input: &ProportionateNim, run: &Run) -> Result<S, Stop> {
    let row = |(row, start): &(&[u64], isize), m: usize| -> __m512i {
        let at = place(*start, m);
        let (word, shift) = (at / WORD, at % WORD);
        let words = &row[word..word + WORDS + 1];
        let low = load(words.first_chunk::<WORDS>().expect("a whole vector"));
        let high = load(words.last_chunk::<WORDS>().expect("a whole vector"));
        _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(shift as i64))
    };
    let first_free = |rows: &Window, m: usize| {
        let [a, b, c, d] = rows;
        let blocked = _mm512_or_si512(_mm512_or_si512(row(a, m), row(b, m)), _mm512_or_si512(row(c, m), row(d, m)));
        let with_zeros = _mm512_cmpneq_epi64_mask(blocked, _mm512_set1_epi64(-1));
        if with_zeros == 0 {
            return BITS;
        }
        let word = with_zeros.trailing_zeros() as usize;
        let mut words = [0; WORDS];
        store(&mut words, blocked);
        word * WORD + first_zero(words[word])
    };
    scan(input, run, |rows: &mut Rows, n, candidates| rows.find::<BITS>(n, candidates, first_free))
}
