//! Codes decoded by comparisons of `std::simd`.
//!
//! Its lookup, `swizzle_dyn`, is an instruction only if the standard library itself was compiled for a CPU that has one, and else goes
//! byte by byte. So the bit within a plane is selected in three steps, and each plane takes it by comparison.
//!
//! Cost per block, move and plane: a comparison, an AND and an OR per register.
//! Bound: the vector ports.

use std::borrow::Borrow;
use std::simd::cmp::SimdPartialEq;
use std::simd::{Select, Simd};

use super::chain::{Near, NearMoves, settle};
use super::{Decoder, LANES, PLANES, Parts, Planes, Sources, by_planes, plain};
use crate::simd::array_of;
use crate::simd::std_simd::by_tiers;

/// A code is 63 - value. Its low three bits give the bit within the plane, the other three the plane.
#[inline(always)]
fn bit<const N: usize>(codes: Simd<u8, N>) -> Simd<u8, N> {
    let splat = Simd::<u8, N>::splat;
    let lacks = |bit: u8| (codes & splat(bit)).simd_eq(splat(0));
    let bit = lacks(4).select(splat(0x80), splat(0x08));
    let bit = lacks(2).select(bit, bit >> splat(2));
    lacks(1).select(bit, bit >> splat(1))
}

#[inline(always)]
fn accumulate<const P: usize, const N: usize>(from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let zero = Simd::<u8, N>::splat(0);
    for (from, hits) in from.blocks(hits) {
        for part in 0..LANES / N {
            let load = |bytes: &[u8; LANES]| Simd::from_array(bytes.as_chunks::<N>().0[part]);
            let mut sum: [Simd<u8, N>; P] = array_of(|p| load(&hits[p]));
            for m in moves {
                let codes = load(from.behind(*m));
                let (bit, plane) = (bit(codes), codes >> Simd::splat(3));
                for (p, sum) in sum.iter_mut().enumerate() {
                    *sum |= plane.simd_eq(Simd::splat((PLANES - 1 - p) as u8)).select(bit, zero);
                }
            }
            for (plane, sum) in hits.iter_mut().zip(&sum) {
                plane.as_chunks_mut::<N>().0[part] = sum.to_array();
            }
        }
    }
}

by_tiers!(Borrow<dyn Decoder>, {
    /// For [`by_planes`], which passes one parameter.
    #[inline(always)]
    fn of_register<const P: usize>(from: Sources, moves: &[usize], hits: &mut [Planes]) {
        accumulate::<P, REGISTER>(from, moves, hits);
    }
    let parts: &'static dyn Decoder = &Parts {
        add: |from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]| {
            by_planes!(planes, of_register(from, moves, hits))
        },
        free_words: |hits: &Planes, free: &mut [u64; LANES]| plain::free_words(hits, free),
        settle: |windows: &mut [Near], moves: &NearMoves| settle(windows, moves),
    };
    parts
});
