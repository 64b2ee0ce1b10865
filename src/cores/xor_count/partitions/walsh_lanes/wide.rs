//! Two `u32x8` of the `wide` crate, with the signs as masks.
//!
//! Cost: four loads, ten operations and two stores for 16 additions, if the build has 256-bit vectors. A default build has 128-bit
//! vectors without an unsigned minimum.
//! Bound: the vector ports.

use std::ops::Range;

use wide::u32x8;

use super::{LANES, Passes};
use crate::cores::xor_count::partitions::tree::{PAD, descend, passes};
use crate::simd::array_of;

/// The parts of these vectors.
#[inline(always)]
pub fn parts() -> impl Passes {
    passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
        let modulus = u32x8::splat(modulus);
        let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
        let negative: [u32x8; 2] =
            array_of(|half| u32x8::new(array_of(|lane| (signs >> (8 * half + lane) & 1).wrapping_neg())));
        descend(vectors, size, terms, |to, from| {
            let (to, from) = (to.as_chunks_mut::<8>().0, from.as_chunks::<8>().0);
            for ((to, from), negative) in to.iter_mut().zip(from).zip(negative) {
                let from = u32x8::new(*from);
                // Adds the number or modulus - number, so sums are at most twice the modulus.
                let sum = u32x8::new(*to) + ((modulus - from) & negative | from & !negative);
                *to = sum.min(sum - modulus).to_array();
            }
        });
    })
}
