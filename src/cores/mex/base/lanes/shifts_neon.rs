//! Codes decoded by shifts, 16 heaps at a time, without a table.
//!
//! `ushl` shifts each lane by its own count, to the right where that is negative. A one that is shifted by the value in the plane
//! is the one-hot byte, and by any other count zero. WebAssembly has no such shift.
//!
//! Cost per 16 heaps, move and plane: a subtraction, a shift, an OR.
//! Bound (llvm-mca, Neoverse V2): the four vector ports, 3.3 cycles for 64 heaps and a plane.

use std::arch::aarch64::{vdupq_n_u8, vreinterpretq_s8_u8, vshlq_u8};

use super::v128::{decode, free_words};
use super::{Decoder, LANES, Parts, Planes, Sources, WINDOW, by_planes};
use crate::simd::v128::Vector;

#[target_feature(enable = "neon")]
fn accumulate<const P: usize>(from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let one = vdupq_n_u8(1);
    decode::<P>(from, moves, hits, |p, _, codes| {
        // Code 0 becomes value 63, which the driver ignores.
        let value = Vector::splat((WINDOW - 8 * p) as u8) - codes;
        Vector(vshlq_u8(one, vreinterpretq_s8_u8(value.0)))
    });
}

/// The parts of this way to decode.
#[inline]
#[target_feature(enable = "neon")]
pub fn parts() -> impl Decoder {
    Parts {
        add: |from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]| {
            by_planes!(planes, accumulate(from, moves, hits))
        },
        free_words: |hits: &Planes, free: &mut [u64; LANES]| free_words(hits, free),
    }
}
