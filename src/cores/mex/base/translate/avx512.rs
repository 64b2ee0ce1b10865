//! Translation of 512 bits by two instructions. XORing the index of a bit with `v` permutes
//! - the bits of every byte in the same way (index bits 0 to 2), an 8x8 bit matrix for `vgf2p8affineqb`;
//! - the bytes of a line (bits 3 to 8), by `vpermb` with XORed byte numbers;
//! - the lines (bits 9 and up), by address.
//!
//! Cost: one load, two permutations and one OR for 512 bits.

use std::arch::x86_64::*;

use super::{LINE, Translate};
use crate::machine::isa::tier;
use crate::simd::avx512::{load, store};

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

#[inline]
#[tier(Avx512)]
fn translate(union: &mut [[u64; LINE]], row: &[[u64; LINE]], value: usize) {
    let bits = _mm512_set1_epi64(EXCHANGE[value % 8] as i64);
    let bytes = _mm512_xor_si512(load(&BYTES), _mm512_set1_epi8((value / 8 % 64) as i8));
    let line = value / (64 * LINE);
    for (i, words) in row.iter().enumerate() {
        let moved = _mm512_permutexvar_epi8(bytes, _mm512_gf2p8affine_epi64_epi8::<0>(load(words), bits));
        let to = &mut union[i ^ line];
        store(to, _mm512_or_si512(load(to), moved));
    }
}

#[inline]
#[tier(Avx512)]
pub fn parts() -> impl Translate {
    |union: &mut [[u64; LINE]], row: &[[u64; LINE]], value: usize| translate(union, row, value)
}

#[cfg(test)]
mod tests {
    use super::EXCHANGE;
    use crate::simd::avx512::model::affine;

    #[test]
    fn the_matrices_exchange_indices() {
        for (value, matrix) in EXCHANGE.into_iter().enumerate() {
            for bit in 0..8 {
                assert_eq!(affine(matrix, 1 << bit), 1 << (bit ^ value));
            }
        }
    }
}
