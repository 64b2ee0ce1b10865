//! Portable vectors of the crate `wide`, whose width in hardware the build chooses: SSE2 by default, AVX2 or AVX-512 in a native
//! build. `wide` has no funnel shift, and no shift by 64.

use wide::{u64x4, u64x8};

use super::{Parts, WordVectors};
use crate::simd::bits::{WORD, first_zero};

/// Four words.
pub mod four {
    use super::*;

    /// The parts of this width.
    #[inline(always)]
    pub fn parts() -> impl WordVectors {
        Parts(
            |words: &[u64; 4]| u64x4::new(*words),
            |a: u64x4, b: u64x4| a | b,
            |low: u64x4, high: u64x4, by: usize| low >> by as u64 | high << 1_u64 << (WORD - 1 - by) as u64,
            |vector: u64x4| {
                let full = vector.simd_eq(u64x4::splat(u64::MAX)).to_bitmask();
                let word = first_zero(full.into());
                if word >= 4 { 4 * WORD } else { word * WORD + first_zero(vector.to_array()[word]) }
            },
        )
    }
}

/// Eight words. They are searched one by one: a horizontal OR is missing.
pub mod eight {
    use super::*;

    /// The parts of this width.
    #[inline(always)]
    pub fn parts() -> impl WordVectors {
        Parts(
            |words: &[u64; 8]| u64x8::new(*words),
            |a: u64x8, b: u64x8| a | b,
            |low: u64x8, high: u64x8, by: usize| low >> by as u64 | high << 1_u64 << (WORD - 1 - by) as u64,
            |vector: u64x8| {
                let words = vector.to_array();
                let open = words.iter().position(|word| *word != u64::MAX);
                open.map_or(8 * WORD, |word| word * WORD + first_zero(words[word]))
            },
        )
    }
}
