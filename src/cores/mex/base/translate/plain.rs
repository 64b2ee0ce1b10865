//! Translation word by word.
//!
//! Cost per word: up to six rounds of two shifts and three logic operations.
//! Bound: these operations.

use super::{FIELDS, LINE, Translate};
use crate::simd::bits::WORD;

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

/// The part in plain Rust.
#[inline(always)]
pub fn parts() -> impl Translate {
    translate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_butterfly_exchanges_indices() {
        for value in 0..WORD {
            for bit in 0..WORD {
                assert_eq!(butterfly(1 << bit, value), 1 << (bit ^ value));
            }
        }
    }
}
