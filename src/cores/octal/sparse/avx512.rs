//! Codes decoded by a permute that all groups share: `vpermb` looks at the low six bits of a code, so one permute of a table
//! gives the one-hot byte of eight codes in each of the four groups of 64. Two affine maps spread bits 7 and 6 to byte
//! masks, which select the group. One `vpternlogq` ORs the byte into the plane where the mask is set.
//!
//! Cost per block and move, with `P` planes: a load, an XOR, two maps, four masks, eight permutes and `P` ternary operations.
//! Bound (Zen 4): the vector ports, with `P + 15` operations of two halves at four halves per cycle: 16 cycles for `P = 17`.

use std::arch::x86_64::*;

use super::codes::{LANES, Move};
use super::window::avx512::loops;
use super::{ASKED, Chunk, Compiled, Inner, Pace, Planes, compiled};
use crate::cores::mex::lanes::avx512::free_words;
use crate::simd::avx512::{load, store};
use crate::simd::{array_of, mapped};

/// As measured on Zen 4.
pub const PACE: Pace = Pace::of("greedy_avx512", "candidates_avx512");

/// For each plane of a group, the one-hot bit of a code.
static TABLES: [[u8; 64]; 8] = {
    let mut tables = [[0; 64]; 8];
    let mut code = 0;
    while code < 64 {
        tables[code / 8][code] = 1 << (code % 8);
        code += 1;
    }
    tables
};

/// Calls `f::<planes>(..)` for the numbers of planes that [`planes`] gives: compiled for each, the planes stay in registers.
macro_rules! by_planes {
    ($planes:expr, $f:ident($($argument:expr),*)) => {
        match $planes {
            1..=2 => $f::<2>($($argument),*),
            3..=4 => $f::<4>($($argument),*),
            5..=6 => $f::<6>($($argument),*),
            7..=8 => $f::<8>($($argument),*),
            9..=10 => $f::<10>($($argument),*),
            11..=12 => $f::<12>($($argument),*),
            13..=14 => $f::<14>($($argument),*),
            15 => $f::<15>($($argument),*),
            16 => $f::<16>($($argument),*),
            17 => $f::<17>($($argument),*),
            18 => $f::<18>($($argument),*),
            19..=20 => $f::<20>($($argument),*),
            21..=24 => $f::<24>($($argument),*),
            _ => $f::<32>($($argument),*),
        }
    };
}

const fn itself<const P: usize>() -> usize {
    P
}

/// The number of planes that are decoded for at least this many.
fn planes(least: usize) -> usize {
    by_planes!(least, itself())
}

/// [`TABLES`], as registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn tables() -> [__m512i; 8] {
    let tables = std::hint::black_box(&TABLES);
    array_of(|j| load(&tables[j]))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn decode<const P: usize>(codes: &[u8], n: usize, moves: &[Move], hits: &mut Planes) {
    let table = tables();
    let mut sum = [_mm512_setzero_si512(); P];
    for (sum, plane) in sum.iter_mut().zip(hits.iter()) {
        *sum = load(plane);
    }
    for m in moves {
        let (code, group) = reached(codes, n, m);
        for (j, table) in table.iter().enumerate().take(P) {
            let hot = _mm512_permutexvar_epi8(code, *table);
            let mut p = j;
            while p < P {
                sum[p] = _mm512_ternarylogic_epi64::<0xf8>(sum[p], hot, group[p / 8]);
                p += 8;
            }
        }
    }
    for (plane, sum) in hits.iter_mut().zip(&sum) {
        store(plane, *sum);
    }
}

/// The codes that a move reaches from the block at `n`, and for each group of 64 codes the mask of those in it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn reached(codes: &[u8], n: usize, m: &Move) -> (__m512i, [__m512i; 4]) {
    let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
    let code = _mm512_xor_si512(load(source), _mm512_set1_epi64(m.code as i64));
    // Every bit of a result byte is bit 7, or bit 6, of the source byte.
    let high = _mm512_gf2p8affine_epi64_epi8::<0>(code, _mm512_set1_epi64(0x8080_8080_8080_8080_u64 as i64));
    let low = _mm512_gf2p8affine_epi64_epi8::<0>(code, _mm512_set1_epi64(0x4040_4040_4040_4040));
    let groups = [
        _mm512_ternarylogic_epi64::<0x03>(high, low, low),
        _mm512_andnot_si512(high, low),
        _mm512_andnot_si512(low, high),
        _mm512_and_si512(high, low),
    ];
    (code, groups)
}

/// The least of the XORs of all moves with the asked code is 0 if one of them reaches it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn tests(codes: &[u8], n: usize, moves: &[Move], asked: &[[u8; LANES]; ASKED]) -> [u64; ASKED] {
    let asked: [__m512i; ASKED] = array_of(|i| load(&asked[i]));
    let mut least = [_mm512_set1_epi8(-1); ASKED];
    for m in moves {
        let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        let (source, code) = (load(source), _mm512_set1_epi64(m.code as i64));
        for (least, asked) in least.iter_mut().zip(asked) {
            *least = _mm512_min_epu8(*least, _mm512_ternarylogic_epi64::<0x96>(source, code, asked));
        }
    }
    mapped(least, |least| _mm512_testn_epi8_mask(least, least))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn search(a: &Chunk, b: &Chunk, open: &mut [u8]) -> usize {
    let (a, b) = (a.as_chunks::<64>().0, b.as_chunks::<64>().0);
    let sums: [__m512i; 4] = array_of(|i| _mm512_xor_si512(load(&a[i]), load(&b[i])));
    let mut kept = 0;
    for i in 0..open.len() {
        let code = _mm512_set1_epi8(open[i] as i8);
        let hits = sums.iter().fold(0, |hits, sum| hits | _mm512_cmpeq_epi8_mask(*sum, code));
        open[kept] = open[i];
        kept += usize::from(hits == 0);
    }
    kept
}

/// The parts of this tier.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn parts() -> Compiled {
    compiled!(inner(), PACE, loops())
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
fn inner() -> Inner {
    Inner {
        planes,
        decode: |codes: &_, n, moves: &_, planes, hits: &mut _| by_planes!(planes, decode(codes, n, moves, hits)),
        words: |hits: &_, free: &mut _| free_words(hits, free),
        tests: |codes: &_, n, moves: &_, asked: &_| tests(codes, n, moves, asked),
        search: |a: &_, b: &_, open: &mut _| search(a, b, open),
    }
}

#[cfg(test)]
mod tests {
    use super::super::PLANES;
    use super::*;

    #[test]
    fn as_many_planes_are_decoded_as_are_asked_for() {
        for least in 1..=PLANES {
            let planes = planes(least);
            assert!((least..=PLANES).contains(&planes), "{planes} for {least}");
            assert_eq!(super::planes(planes), planes);
        }
    }
}
