//! Bit rows translated by XOR: bit `i` of a row moves to `i ^ value`, for sets of nim-sums to which a heap of that value is added.
//!
//! The low six bits of the value permute the bits of a word, by a butterfly (bit `i` exchanges neighbouring fields of `2^i` bits).
//! The other bits permute the words, by address.

use crate::simd::bits::WORD;

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;

/// Words in a cache line and in the vectors of the faster variants. Row lengths are multiples of it.
pub const LINE: usize = 8;

/// `translate(union, row, value)` ORs `row`, with its indices XORed with `value`, into `union`. Both have the same number of lines, a
/// power of two, and `value` is below the number of bits.
pub trait Translate: Fn(&mut [[u64; LINE]], &[[u64; LINE]], usize) {}

impl<F: Fn(&mut [[u64; LINE]], &[[u64; LINE]], usize)> Translate for F {}

/// Masks of the lower of each two neighbouring fields of `2^i` bits.
const FIELDS: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

pub mod plain {
    //! Translation word by word.
    //!
    //! Cost per word: up to six rounds of two shifts and three logic operations.
    //! Bound: these operations.

    use super::*;

    /// The word whose bit `i` is bit `i ^ value % 64` of `word`.
    fn butterfly(mut word: u64, value: usize) -> u64 {
        for (level, mask) in FIELDS.into_iter().enumerate() {
            if value >> level & 1 == 1 {
                word = (word & mask) << (1 << level) | (word >> (1 << level) & mask);
            }
        }
        word
    }

    fn translate(union: &mut [[u64; LINE]], row: &[[u64; LINE]], value: usize) {
        for (w, word) in row.as_flattened().iter().enumerate() {
            union.as_flattened_mut()[w ^ (value / WORD)] |= butterfly(*word, value);
        }
    }

    #[inline(always)]
    pub fn parts() -> impl Translate {
        translate
    }
}
