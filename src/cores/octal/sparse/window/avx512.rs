//! AVX-512: a permute of a table that a group of moves shares gives the one-hot byte of a plane, eight codes of 64 heaps.
//!
//! The code of the group is built into its table, so no move needs an XOR, and `vpternlogq` ORs what two moves reach.
//!
//! Cost per block and move, with `P` planes: a load, `P` permutes and `P / 2` ternary operations.
//! Bound: the permutes, two a cycle on Zen 5, one on Intel.

use std::arch::x86_64::*;

use super::super::codes::{LANES, Move};
use super::{Block, CODES, Lanes, Loops, Moves, SHORT, loops};
use crate::cores::mex::lanes::avx512::hit_words;
use crate::cores::mex::lanes::by_planes;
use crate::simd::avx512::{load, store};
use crate::simd::{array_of, mapped};

/// For each code of a group and each plane, the one-hot bits of the XOR with each code.
static TABLES: [[Block; CODES / 8]; CODES] = {
    let mut tables = [[[0; LANES]; CODES / 8]; CODES];
    let mut code = 0;
    while code < CODES {
        let mut other = 0;
        while other < CODES {
            let reached = code ^ other;
            tables[code][reached / 8][other] = 1 << (reached % 8);
            other += 1;
        }
        code += 1;
    }
    tables
};

/// The codes of the block at `n`.
#[inline]
#[target_feature(enable = "avx512f")]
fn codes_at(codes: &[u8], n: usize) -> __m512i {
    load::<u8, LANES>(codes[n..].first_chunk().expect("codes are padded by a block"))
}

/// The codes that moves reach from the block at `n`, as planes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn accumulate<const P: usize>(codes: &[u8], n: usize, moves: &Moves) -> [__m512i; P] {
    let mut sums = [_mm512_setzero_si512(); P];
    for (code, shifts) in moves.groups() {
        let tables: [__m512i; P] = array_of(|p| load(&TABLES[usize::from(code) % CODES][p]));
        let (pairs, last) = shifts.as_chunks();
        for [a, b] in pairs {
            let (a, b) = (codes_at(codes, n - a), codes_at(codes, n - b));
            for (sum, table) in sums.iter_mut().zip(&tables) {
                let (a, b) = (_mm512_permutexvar_epi8(a, *table), _mm512_permutexvar_epi8(b, *table));
                *sum = _mm512_ternarylogic_epi64::<0xfe>(*sum, a, b);
            }
        }
        if let [shift] = last {
            let a = codes_at(codes, n - shift);
            for (sum, table) in sums.iter_mut().zip(&tables) {
                *sum = _mm512_or_si512(*sum, _mm512_permutexvar_epi8(a, *table));
            }
        }
    }
    sums
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn block<const P: usize>(codes: &[u8], n: usize, moves: &Moves, words: &mut [u64]) {
    let mut bytes = [[0; LANES]; 8];
    for (bytes, plane) in bytes.iter_mut().zip(&accumulate::<P>(codes, n, moves)) {
        store(bytes, *plane);
    }
    to_words(&bytes, P, words.try_into().expect("a block"));
}

/// The words of planes: interleaved bytes, pairs and fours within quarters, then the quarters in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn to_words(bytes: &[[u8; LANES]; 8], planes: usize, words: &mut [u64; LANES]) {
    if planes <= 2 {
        // Two vectors of 32 words of 16 bits, eight words widened at once.
        let low = _mm512_unpacklo_epi8(load(&bytes[0]), load(&bytes[1]));
        let high = _mm512_unpackhi_epi8(load(&bytes[0]), load(&bytes[1]));
        for (i, words) in words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let (first, last) = words.split_at_mut(8);
            store::<u64, 8>(first.try_into().expect("eight"), _mm512_cvtepu16_epi64(quarter(low, i)));
            store::<u64, 8>(last.try_into().expect("eight"), _mm512_cvtepu16_epi64(quarter(high, i)));
        }
        return;
    }
    hit_words(bytes, words);
}

/// A quarter of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarter(all: __m512i, i: usize) -> __m128i {
    match i {
        0 => _mm512_extracti32x4_epi32::<0>(all),
        1 => _mm512_extracti32x4_epi32::<1>(all),
        2 => _mm512_extracti32x4_epi32::<2>(all),
        _ => _mm512_extracti32x4_epi32::<3>(all),
    }
}

/// 16 heaps, a word of 32 or of 64 bits each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn short(codes: &[u8], n: usize, moves: &[Move], planes: usize, words: &mut [u64; SHORT]) {
    let (low, high) = words.split_at_mut(SHORT / 2);
    let (low, high): (&mut [u64; 8], &mut [u64; 8]) = (low.try_into().expect("half"), high.try_into().expect("half"));
    let at = |m: &Move| {
        let from: &[u8; SHORT] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        _mm_xor_si128(load_16(from), _mm_set1_epi8(m.code as i8))
    };
    if planes <= 4 {
        let (one, mut sum) = (_mm512_set1_epi32(1), _mm512_setzero_si512());
        for m in moves {
            sum = _mm512_or_si512(sum, _mm512_sllv_epi32(one, _mm512_cvtepu8_epi32(at(m))));
        }
        let halves = mapped([_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum)], |half| {
            _mm512_cvtepu32_epi64(half)
        });
        store(low, _mm512_or_si512(load(low), halves[0]));
        store(high, _mm512_or_si512(load(high), halves[1]));
    } else {
        let one = _mm512_set1_epi64(1);
        let mut sums = [load(low), load(high)];
        for m in moves {
            let codes = at(m);
            let halves = [codes, _mm_unpackhi_epi64(codes, codes)];
            for (sum, half) in sums.iter_mut().zip(halves) {
                *sum = _mm512_or_si512(*sum, _mm512_sllv_epi64(one, _mm512_cvtepu8_epi64(half)));
            }
        }
        store(low, sums[0]);
        store(high, sums[1]);
    }
}

/// Sixteen bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_16(from: &[u8; SHORT]) -> __m128i {
    let (low, high) = from.split_at(8);
    let word = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    _mm_set_epi64x(word(high), word(low))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn is_split(a: &Block, b: &Block, code: u8) -> bool {
    _mm512_cmpeq_epi8_mask(_mm512_xor_si512(load(a), load(b)), _mm512_set1_epi8(code as i8)) != 0
}

/// Compiled for this tier.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub fn loops() -> Loops {
    loops!(lanes())
}

/// The parts as closures, which have the CPU features of the function that they are in.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn lanes() -> Lanes {
    Lanes {
        size: LANES,
        has_planes: true,
        worth: 0.002,
        block: |codes, n, moves, planes, words| by_planes!(planes, block(codes, n, moves, words)),
        short: |codes, n, moves, planes, words| short(codes, n, moves, planes, words),
        is_split: |a, b, code| is_split(a, b, code),
    }
}
