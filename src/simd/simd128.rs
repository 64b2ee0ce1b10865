//! The vectors of WebAssembly under [`v128`](super::v128). Where the CPU is an x86, an engine adds a saturating addition before each
//! lookup, for `pshufb` takes four bits of an index.

use std::arch::wasm32::*;
use std::array::from_fn;

use super::v128::{Lanes, Vector, WORDS, Words, load, word_of};
use crate::kernel::Tier;
use crate::simd::bits::{self, WORD};

/// The tier.
pub const TIER: Tier = Tier::Simd128;
/// Vectors of sums that stay in registers while others are added: half of the registers of an x86 without AVX-512.
pub const SUMS: usize = 8;

macro_rules! lanes {
    ($($lane:ty: $splat:ident $sub:ident $equal:ident $down:ident $up:ident;)*) => { $(
        impl Lanes for $lane {
            type Register = v128;

            #[inline(always)]
            fn splat(lane: $lane) -> v128 {
                $splat(lane)
            }

            #[inline(always)]
            fn and(a: v128, b: v128) -> v128 {
                v128_and(a, b)
            }

            #[inline(always)]
            fn or(a: v128, b: v128) -> v128 {
                v128_or(a, b)
            }

            #[inline(always)]
            fn xor(a: v128, b: v128) -> v128 {
                v128_xor(a, b)
            }

            #[inline(always)]
            fn sub(a: v128, b: v128) -> v128 {
                $sub(a, b)
            }

            #[inline(always)]
            fn without(a: v128, b: v128) -> v128 {
                v128_andnot(a, b)
            }

            #[inline(always)]
            fn equal(a: v128, b: v128) -> v128 {
                $equal(a, b)
            }

            /// Counts are taken modulo the width of a lane, so a shift by the width is two.
            #[inline(always)]
            fn funnel(low: v128, high: v128, by: usize) -> v128 {
                let by = by as u32;
                v128_or($down(low, by), $up($up(high, 1), <$lane>::BITS - 1 - by))
            }
        }
    )* };
}
lanes! {
    u8: u8x16_splat u8x16_sub u8x16_eq u8x16_shr u8x16_shl;
    u16: u16x8_splat u16x8_sub u16x8_eq u16x8_shr u16x8_shl;
    u32: u32x4_splat u32x4_sub u32x4_eq u32x4_shr u32x4_shl;
    u64: u64x2_splat u64x2_sub u64x2_eq u64x2_shr u64x2_shl;
}

/// The bytes of the table at these indices; zero for an index past 15.
#[inline(always)]
pub fn lookup(table: Vector<u8>, indices: Vector<u8>) -> Vector<u8> {
    Vector(u8x16_swizzle(table.0, indices.0))
}

/// A bit for each of 64 bytes, which are all ones or zero.
#[inline(always)]
pub fn bits(bytes: [Vector<u8>; 4]) -> u64 {
    bytes.iter().rev().fold(0, |word, bytes| word << 16 | u64::from(u8x16_bitmask(bytes.0)))
}

/// Word `i` has byte `i` of each of the eight rows: three rounds of shuffles bring them together.
#[inline(always)]
pub fn transposed(rows: [Vector<u8>; 8]) -> [Vector<u64>; 8] {
    // Two rows for eight words each, four rows for four, then all rows for two.
    let pairs: [[v128; 2]; 4] = from_fn(|p| {
        let (a, b) = (rows[2 * p].0, rows[2 * p + 1].0);
        [
            u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
            u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
        ]
    });
    let fours: [[v128; 4]; 2] = from_fn(|p| {
        from_fn(|i| {
            let (a, b) = (pairs[2 * p][i / 2], pairs[2 * p + 1][i / 2]);
            match i % 2 {
                0 => u16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b),
                _ => u16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b),
            }
        })
    });
    from_fn(|i| {
        let (a, b) = (fours[0][i / 2], fours[1][i / 2]);
        Vector(if i % 2 == 0 { u32x4_shuffle::<0, 4, 1, 5>(a, b) } else { u32x4_shuffle::<2, 6, 3, 7>(a, b) })
    })
}

/// The first zero of four words; 256 if there is none.
#[inline(always)]
pub fn first_zero(words: Words) -> usize {
    let full = words.map(|words| u64x2_bitmask(words.equal(Vector::splat(u64::MAX)).0));
    let word = (full[0] | full[1] << 2).trailing_ones() as usize;
    if word == WORDS { WORDS * WORD } else { word * WORD + bits::first_zero(word_of(words, word)) }
}

/// The lanes of `low` but for the first, then the first of `high`.
#[inline(always)]
pub fn next_lanes(low: Vector<u32>, high: Vector<u32>) -> Vector<u32> {
    Vector(u32x4_shuffle::<1, 2, 3, 4>(low.0, high.0))
}

/// How many words at the beginning of a row of two or four vectors have no zero; 16 if none has one.
#[inline(always)]
pub fn full_words<const V: usize>(row: [Vector<u32>; V]) -> usize {
    // A bit for each word, in a row of two vectors twice.
    let full = |v: usize| u32::from(u32x4_bitmask(row[v].equal(Vector::splat(u32::MAX)).0));
    let full = full(0) | full(1) << 4 | full(V - 2) << 8 | full(V - 1) << 12;
    full.trailing_ones() as usize
}

/// Only this bit of each lane; none where there is no such bit.
///
/// Lanes have no counts of their own: the bit is looked up, with the index in the lower byte, and 8 less in the upper byte, which
/// wraps past 15 where it is below 8.
#[inline(always)]
pub fn one_bit(at: Vector<u16>) -> Vector<u16> {
    let table = u8x16(1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0);
    let low = u16x8_min(at.0, u16x8_splat(0xff));
    Vector(u8x16_swizzle(table, u8x16_sub(v128_or(low, u16x8_shl(low, 8)), u16x8_splat(0x0800))))
}

/// Whether any bit is set.
#[inline(always)]
pub fn any(lanes: Vector<u16>) -> bool {
    v128_any_true(lanes.0)
}

/// Signs of four lanes, for sums modulo a number, as masks: `modulus - a` is `!a + modulus + 1`.
#[derive(Clone, Copy)]
pub struct Signs {
    negative: v128,
    add: v128,
    modulus: v128,
}

/// The signs for a modulus less than 2^31.
#[inline(always)]
pub fn signs(are_negative: [bool; 4], modulus: u32) -> Signs {
    let Vector(negative) = load(&are_negative.map(|is| u32::from(is).wrapping_neg()));
    Signs { negative, add: v128_and(negative, u32x4_splat(modulus + 1)), modulus: u32x4_splat(modulus) }
}

/// `to` plus or minus `from`.
#[inline(always)]
pub fn add_signed(to: Vector<u32>, from: Vector<u32>, signs: Signs) -> Vector<u32> {
    let sum = u32x4_add(to.0, u32x4_add(v128_xor(from.0, signs.negative), signs.add));
    Vector(u32x4_min(sum, u32x4_sub(sum, signs.modulus)))
}
