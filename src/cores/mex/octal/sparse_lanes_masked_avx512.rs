//! Sparse byte lanes with masked permutes: `vpermb` looks at the low six bits of a code, and a mask of lanes for each group of 64
//! codes clears the others. One ternary OR takes the planes of two moves.
//!
//! Cost per block and move, with `P` planes: a load, an XOR, a few mask operations, `P` permutes and `P / 2` ORs.
//! Bound (Zen 4): the permutes, one a cycle.

use std::arch::x86_64::*;

use super::codes::{LANES, Move};
use super::drive::{self, Alone};
use super::inner::Planes;
use super::sparse_lanes_avx512::{TABLES, by_planes, parts_with};
use super::{Octal, Start};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, store};

/// Nanoseconds for a move and a block.
const NS: f64 = 6.5;

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    drive::cost(input, NS)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
fn decode<const P: usize>(codes: &[u8], n: usize, moves: &[Move], hits: &mut Planes) {
    let tables = std::hint::black_box(&TABLES);
    let table: [__m512i; 8] = std::array::from_fn(|j| load(&tables[j]));
    let mut sum: [__m512i; P] = std::array::from_fn(|p| load(&hits[p]));
    let grouped = |m: &Move| {
        let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        let code = _mm512_xor_si512(load(source), _mm512_set1_epi64(m.code as i64));
        let high = _mm512_movepi8_mask(code);
        let low = _mm512_movepi8_mask(_mm512_add_epi8(code, code));
        (code, [!(high | low), low & !high, high & !low, high & low])
    };
    let (pairs, single) = moves.as_chunks::<2>();
    for [a, b] in pairs {
        let ((a, group_a), (b, group_b)) = (grouped(a), grouped(b));
        for (p, sum) in sum.iter_mut().enumerate() {
            let a = _mm512_maskz_permutexvar_epi8(group_a[p / 8], a, table[p % 8]);
            let b = _mm512_maskz_permutexvar_epi8(group_b[p / 8], b, table[p % 8]);
            *sum = _mm512_ternarylogic_epi64::<0xfe>(*sum, a, b);
        }
    }
    for m in single {
        let (code, group) = grouped(m);
        for (p, sum) in sum.iter_mut().enumerate() {
            *sum = _mm512_or_si512(*sum, _mm512_maskz_permutexvar_epi8(group[p / 8], code, table[p % 8]));
        }
    }
    for (plane, sum) in hits.iter_mut().zip(sum) {
        store(plane, sum);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    let decode = |codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes| {
        by_planes!(planes, decode(codes, n, moves, hits))
    };
    drive::drive(input, run, start, &parts_with(None, NS, decode), &mut Alone)
}
