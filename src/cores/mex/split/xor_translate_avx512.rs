//! [`super::bit_rows`] with 512 bits translated by two instructions. XORing the index of a bit with `v` permutes
//! - the bits of every byte in the same way (index bits 0 to 2), an 8x8 bit matrix for `vgf2p8affineqb`;
//! - the bytes of a line (bits 3 to 8), by `vpermb` with XORed byte numbers;
//! - the lines (bits 9 and up), by address.
//!
//! Cost: one load, two permutations and one OR for 512 nim-sums.
//! Bound: building the rows of pairs, one read-modify-write per pair; from `n` = 1000 on, the translations.

use std::arch::x86_64::*;

use super::Split;
use super::bit_rows::{LINE, drive, translations};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, store};

pub fn cost(input: &Split, _: CostContext) -> Cost {
    translations(input, 5.5, 0.03)
}

/// `EXCHANGE[v]` is the matrix that moves bit `i` of a byte to `i ^ v`. Its row for result bit `i` is byte `7 - i`.
const EXCHANGE: [u64; 8] = {
    let mut matrices = [0; 8];
    let mut v = 0;
    while v < 8 {
        let mut i = 0;
        while i < 8 {
            matrices[v] |= 1 << (8 * (7 - i) + (i ^ v));
            i += 1;
        }
        v += 1;
    }
    matrices
};

const BYTES: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        bytes[i] = i as u8;
        i += 1;
    }
    bytes
};

/// ORs `row`, with its indices XORed with `value`, into `union`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub fn translate(union: &mut [[u64; LINE]], row: &[[u64; LINE]], value: usize) {
    let bits = _mm512_set1_epi64(EXCHANGE[value % 8] as i64);
    let bytes = _mm512_xor_si512(load(&BYTES), _mm512_set1_epi8((value / 8 % 64) as i8));
    let line = value / (64 * LINE);
    for (i, words) in row.iter().enumerate() {
        let moved = _mm512_permutexvar_epi8(bytes, _mm512_gf2p8affine_epi64_epi8::<0>(load(words), bits));
        let to = &mut union[i ^ line];
        store(to, _mm512_or_si512(load(to), moved));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    drive(input, run, |union, row, value| translate(union, row, value))
}
