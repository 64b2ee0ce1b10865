//! `bit_rows` with 512 candidates at once. A window at any bit offset is two loads, a word apart, and one funnel shift
//! (`vpshrdvq`).
//!
//! Cost: `0.09 N / 512 + 1` windows for each of `0.18 N^2` visits.
//! Bound: loads, nearly all of which straddle a cache line; at small `N` the bookkeeping of a visit.

use std::arch::x86_64::{__m512i, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64, _mm512_shrdv_epi64};

use super::bit_rows::{Words, span};
use super::layers::{Places, bytes, scan};
use super::{Sink, StoneGame};
use crate::bits::{WORD, first_zero};
use crate::kernel::{Cost, On, Run, Stop};
use crate::simd::avx512::{load, store};

const WORDS: usize = 8;
const LANES: usize = WORDS * WORD;

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0007 * n * n * n + 5.1 * n * n, bytes: bytes(input, 1.0) }
}

#[target_feature(enable = "avx512f,avx512vbmi2,bmi1")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    let row = |marks: &Words, place: usize| -> __m512i {
        let (low, high, shift) = span::<WORDS>(marks, place);
        _mm512_shrdv_epi64(load(low), load(high), _mm512_set1_epi64(shift as i64))
    };
    scan::<LANES, _, S>(input, run, |marks: &Words, rows: Places| {
        let forbidden = rows[1..].iter().fold(row(marks, rows[0]), |v, place| _mm512_or_si512(v, row(marks, *place)));
        let with_zeros = _mm512_cmpneq_epi64_mask(forbidden, _mm512_set1_epi64(-1));
        if with_zeros == 0 {
            return LANES;
        }
        let word = with_zeros.trailing_zeros() as usize;
        let mut words = [0; WORDS];
        store(&mut words, forbidden);
        word * WORD + first_zero(words[word])
    })
}
