//! AVX2: two lookups by four bits of a code give the one-hot bytes of two planes, 16 codes of 32 heaps.
//!
//! An XOR with the code of the heap that is left, and with the number of a group of 16, leaves the codes of this group below 16. An
//! addition with saturation then sets bit 7 in all others, for which `vpshufb` gives zero.
//!
//! Cost for 32 heaps and a move: a load; for two planes an XOR, an addition, two lookups, two ORs.
//! Bound (Zen 3): the four vector ports, 4.5 cycles with six planes.

use std::arch::x86_64::*;

use super::super::codes::Move;
use super::words::is_split;
use super::{Lanes, Loops, Moves, SHORT, loops};
use crate::cores::mex::lanes::avx2::transpose;
use crate::simd::array_of;
use crate::simd::avx2::{load, store};

/// Heaps of a block.
const HEAPS: usize = 32;

/// Codes of one group.
const GROUP: usize = 16;

/// The one-hot bits of the first or second plane of a group, by the low four bits of the code.
pub const fn table(plane: usize) -> [u8; 32] {
    let mut table = [0; 32];
    let mut i = 0;
    while i < 32 {
        table[i] = if i % GROUP / 8 == plane { 1 << (i % 8) } else { 0 };
        i += 1;
    }
    table
}

#[inline]
#[target_feature(enable = "avx2")]
fn block<const G: usize>(codes: &[u8], n: usize, moves: &Moves, words: &mut [u64]) {
    let tables = [load(&table(0)), load(&table(1))];
    let others = _mm256_set1_epi8(0x80_u8.wrapping_sub(GROUP as u8) as i8);
    let mut sums = [[_mm256_setzero_si256(); 2]; 4];
    for (code, shifts) in moves.groups() {
        let groups: [__m256i; G] = array_of(|g| _mm256_set1_epi8((code ^ (GROUP * g) as u8) as i8));
        for shift in shifts {
            let from = load::<u8, HEAPS>(codes[n - shift..].first_chunk().expect("codes are padded by a block"));
            for (sums, group) in sums.iter_mut().zip(&groups) {
                let low = _mm256_adds_epu8(_mm256_xor_si256(from, *group), others);
                for (sum, table) in sums.iter_mut().zip(&tables) {
                    *sum = _mm256_or_si256(*sum, _mm256_shuffle_epi8(*table, low));
                }
            }
        }
    }
    transpose(array_of(|p| sums[p / 2][p % 2]), words.try_into().expect("a block"), |words| words);
}

/// Words of 16 heaps: four are shifted at once.
#[inline]
#[target_feature(enable = "avx2")]
fn short(codes: &[u8], n: usize, moves: &[Move], words: &mut [u64; SHORT]) {
    let one = _mm256_set1_epi64x(1);
    let mut sums: [__m256i; 4] = array_of(|i| load::<u64, 4>(&words.as_chunks().0[i]));
    for m in moves {
        let from: &[u8; SHORT] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        for (sum, from) in sums.iter_mut().zip(from.as_chunks::<4>().0) {
            let four = _mm_cvtsi32_si128(i32::from_le_bytes(*from) ^ m.code as i32);
            *sum = _mm256_or_si256(*sum, _mm256_sllv_epi64(one, _mm256_cvtepu8_epi64(four)));
        }
    }
    for (words, sum) in words.as_chunks_mut().0.iter_mut().zip(sums) {
        store::<u64, 4>(words, sum);
    }
}

/// Compiled for this tier.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn loops() -> Loops {
    loops!(lanes())
}

/// The parts as closures, which have the CPU features of the function that they are in.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn lanes() -> Lanes {
    Lanes {
        size: HEAPS,
        has_planes: true,
        worth: 0.006,
        block: |codes, n, moves, planes, words| match planes.div_ceil(2) {
            0 | 1 => block::<1>(codes, n, moves, words),
            2 => block::<2>(codes, n, moves, words),
            3 => block::<3>(codes, n, moves, words),
            _ => block::<4>(codes, n, moves, words),
        },
        short: |codes, n, moves, _, words| short(codes, n, moves, words),
        is_split: |a, b, code| is_split(a, b, code),
    }
}
