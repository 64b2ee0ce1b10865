//! Codes decoded by `vpshufb`, 32 heaps at a time. Two lookups by the low four bits of a code give the one-hot bytes
//! of the two planes of every group of 16 codes; a comparison of the high four bits says which group it is.
//!
//! Cost per 32 heaps, move and two planes: one comparison, two ANDs, two ORs.
//! Bound (Zen 4): the vector ports, four of them.

use std::arch::x86_64::*;

use super::codes::{LANES, Move};
use super::plain::{search, tests};
use super::window::avx2::{loops, table};
use super::{Compiled, Inner, Pace, Planes, compiled};
use crate::cores::mex::lanes::avx2::free_words;
use crate::simd::avx2::{load, store};
use crate::simd::{array_of, mapped};

/// As measured on Zen 4.
pub const PACE: Pace = Pace::of("greedy_avx2", "candidates");

#[inline]
#[target_feature(enable = "avx2")]
fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
    let tables = [load(&table(0)), load(&table(1))];
    let nibble = _mm256_set1_epi8(0x0f);
    // Eight planes at a time stay in registers, with what they need.
    for (first, planes) in (0..planes).step_by(8).zip(hits.chunks_exact_mut(8)) {
        for half in 0..2 {
            let mut sum: [__m256i; 8] =
                array_of(|p| load::<u8, 32>(planes[p].as_chunks().0[half..].first().expect("two halves")));
            for m in moves {
                let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
                let code = load::<u8, 32>(&source.as_chunks().0[half]);
                let code = _mm256_xor_si256(code, _mm256_set1_epi64x(m.code as i64));
                let hot = mapped(tables, |table| _mm256_shuffle_epi8(table, _mm256_and_si256(code, nibble)));
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(code), nibble);
                for (group, sum) in sum.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    let is_here = _mm256_cmpeq_epi8(high, _mm256_set1_epi8((first / 2 + group) as i8));
                    for (sum, hot) in sum.iter_mut().zip(hot) {
                        *sum = _mm256_or_si256(*sum, _mm256_and_si256(hot, is_here));
                    }
                }
            }
            for (plane, sum) in planes.iter_mut().zip(sum) {
                store::<u8, 32>(&mut plane.as_chunks_mut().0[half], sum);
            }
        }
    }
}

/// The parts of this tier.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn parts() -> Compiled {
    compiled!(inner(), PACE, loops())
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn inner() -> Inner {
    Inner {
        planes: |least: usize| least.next_multiple_of(8),
        decode: |codes: &_, n, moves: &_, planes, hits: &mut _| decode(codes, n, moves, planes, hits),
        words: |hits: &_, free: &mut _| free_words(hits, free),
        tests: |codes: &_, n, moves: &_, asked: &_| tests(codes, n, moves, asked),
        search: |a: &_, b: &_, open: &mut _| search(a, b, open),
    }
}
