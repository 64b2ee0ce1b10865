//! The NEON instructions of [`v128`](super::v128).
#![allow(unsafe_code, reason = "calls of functions for NEON, which the build has")]

use std::arch::aarch64::*;

use super::lanes128::{Lanes, Vector, WORDS, Words, load, word_of};
use crate::machine::isa::tier;
use crate::simd::array_of;
use crate::simd::bits::{self, WORD};

/// The number of sums that stay in registers while other vectors are added: half of the registers.
pub const SUMS: usize = 16;

const _: () = assert!(cfg!(target_feature = "neon"), "every 64-bit ARM CPU with an operating system has NEON");

/// Functions whose bodies use intrinsics, for callers that need no `target_feature`.
macro_rules! neon {
    ($($(#[$attribute:meta])* $vis:vis fn $name:ident $(<const $n:ident: usize>)?
       ($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => { $(
        $(#[$attribute])*
        #[inline(always)]
        $vis fn $name $(<const $n: usize>)? ($($argument: $type),*) -> $result {
            #[inline]
            #[tier(Neon)]
            fn with_neon $(<const $n: usize>)? ($($argument: $type),*) -> $result $body
            // SAFETY: the build has NEON (asserted above).
            unsafe { with_neon $(::<$n>)? ($($argument),*) }
        }
    )* };
}

macro_rules! lanes {
    ($($lane:ty: $register:ty, $splat:ident $and:ident $or:ident $xor:ident $sub:ident $without:ident $equal:ident,
       $shift:ident $count:ident $signed:ty;)*) => { $(
        impl Lanes for $lane {
            type Register = $register;

            neon! {
                fn splat(lane: $lane) -> $register {
                    $splat(lane)
                }

                fn and(a: $register, b: $register) -> $register {
                    $and(a, b)
                }

                fn or(a: $register, b: $register) -> $register {
                    $or(a, b)
                }

                fn xor(a: $register, b: $register) -> $register {
                    $xor(a, b)
                }

                fn sub(a: $register, b: $register) -> $register {
                    $sub(a, b)
                }

                fn without(a: $register, b: $register) -> $register {
                    $without(a, b)
                }

                fn equal(a: $register, b: $register) -> $register {
                    $equal(a, b)
                }

                /// A negative count shifts down; a shift by the width of a lane gives zero.
                fn funnel(low: $register, high: $register, by: usize) -> $register {
                    let by = by as $signed;
                    let (down, up) = ($count(-by), $count(<$lane>::BITS as $signed - by));
                    $or($shift(low, down), $shift(high, up))
                }
            }
        }
    )* };
}
lanes! {
    u8: uint8x16_t, vdupq_n_u8 vandq_u8 vorrq_u8 veorq_u8 vsubq_u8 vbicq_u8 vceqq_u8, vshlq_u8 vdupq_n_s8 i8;
    u16: uint16x8_t, vdupq_n_u16 vandq_u16 vorrq_u16 veorq_u16 vsubq_u16 vbicq_u16 vceqq_u16, vshlq_u16 vdupq_n_s16 i16;
    u32: uint32x4_t, vdupq_n_u32 vandq_u32 vorrq_u32 veorq_u32 vsubq_u32 vbicq_u32 vceqq_u32, vshlq_u32 vdupq_n_s32 i32;
    u64: uint64x2_t, vdupq_n_u64 vandq_u64 vorrq_u64 veorq_u64 vsubq_u64 vbicq_u64 vceqq_u64, vshlq_u64 vdupq_n_s64 i64;
}

/// Signs of four lanes, for sums modulo a number, as factors. `mla` adds or subtracts in one instruction. The sum is
/// right or off by the modulus, in a direction that depends only on the sign; so of the sum and the corrected sum, the
/// smaller one is right.
#[derive(Clone, Copy)]
pub struct Signs {
    factors: uint32x4_t,
    backs: uint32x4_t,
}

neon! {
    /// The bytes of the table at these indices; zero for an index past 15.
    pub fn lookup(table: Vector<u8>, indices: Vector<u8>) -> Vector<u8> {
        Vector(vqtbl1q_u8(table.0, indices.0))
    }

    /// One bit for each of 64 bytes, each of which is all ones or zero.
    pub fn bits(bytes: [Vector<u8>; 4]) -> u64 {
        // Each lane keeps its bit of a byte; pairs of lanes are added until a byte has eight.
        let bit = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128u8]);
        let [a, b, c, d] = bytes.map(|bytes| (bytes & bit).0);
        let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
    }

    /// Word `i` has byte `i` of each of the eight rows: three rounds of `zip` bring them together.
    pub fn transposed(rows: [Vector<u8>; 8]) -> [Vector<u64>; 8] {
        // Two rows for eight words each, four rows for four, then all rows for two.
        let pairs: [[uint16x8_t; 2]; 4] = array_of(|p| {
            let (a, b) = (rows[2 * p].0, rows[2 * p + 1].0);
            [vreinterpretq_u16_u8(vzip1q_u8(a, b)), vreinterpretq_u16_u8(vzip2q_u8(a, b))]
        });
        let fours: [[uint32x4_t; 4]; 2] = array_of(|p| {
            array_of(|i| {
                let (a, b) = (pairs[2 * p][i / 2], pairs[2 * p + 1][i / 2]);
                vreinterpretq_u32_u16(if i % 2 == 0 { vzip1q_u16(a, b) } else { vzip2q_u16(a, b) })
            })
        });
        array_of(|i| {
            let (a, b) = (fours[0][i / 2], fours[1][i / 2]);
            Vector(vreinterpretq_u64_u32(if i % 2 == 0 { vzip1q_u32(a, b) } else { vzip2q_u32(a, b) }))
        })
    }

    /// The first zero of four words; 256 if there is none.
    pub fn first_zero(words: Words) -> usize {
        let full = words.map(|words| vreinterpretq_u32_u64(words.equal(Vector::splat(u64::MAX)).0));
        // A quarter of this word for each of the four words.
        let full = vget_lane_u64::<0>(vreinterpret_u64_u16(vmovn_u32(vuzp1q_u32(full[0], full[1]))));
        let word = bits::first_zero(full) / (WORD / WORDS);
        if word == WORDS { WORDS * WORD } else { word * WORD + bits::first_zero(word_of(words, word)) }
    }

    /// The lanes of `low` except the first, then the first lane of `high`.
    pub fn next_lanes(low: Vector<u32>, high: Vector<u32>) -> Vector<u32> {
        Vector(vextq_u32::<1>(low.0, high.0))
    }

    /// The number of words at the beginning of a row of two or four vectors that have no zero; 16 if no word has one.
    pub fn full_words<const V: usize>(row: [Vector<u32>; V]) -> usize {
        // Four bits for each word. The words of a row of two vectors appear twice.
        let full = |v: usize| vreinterpretq_u16_u32(row[v].equal(Vector::splat(u32::MAX)).0);
        let halves = |v: usize| vreinterpretq_u8_u16(vuzp1q_u16(full(v), full(v + 1)));
        let full = vreinterpretq_u16_u8(vuzp1q_u8(halves(0), halves(V - 2)));
        let full = vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(full)));
        bits::first_zero(full) / 4
    }

    /// Each lane with only the bit at `at` set, or none if a lane has no such bit.
    ///
    /// `ushl` shifts lanes of any width, but reads only the low byte of a count, as a signed number. So a minimum
    /// reduces all counts that are too large to 16, which shifts the bit out.
    pub fn one_bit(at: Vector<u16>) -> Vector<u16> {
        Vector(vshlq_u16(vdupq_n_u16(1), vreinterpretq_s16_u16(vminq_u16(at.0, vdupq_n_u16(16)))))
    }

    /// Whether any bit is set.
    pub fn any(lanes: Vector<u16>) -> bool {
        vmaxvq_u16(lanes.0) != 0
    }

    /// The signs for a modulus less than 2^31.
    pub fn signs(are_negative: [bool; 4], modulus: u32) -> Signs {
        let by_sign = |plus: u32, minus: u32| load(&are_negative.map(|is| if is { minus } else { plus })).0;
        Signs { factors: by_sign(1, u32::MAX), backs: by_sign(modulus.wrapping_neg(), modulus) }
    }

    /// `to` plus or minus `from`.
    pub fn add_signed(to: Vector<u32>, from: Vector<u32>, signs: Signs) -> Vector<u32> {
        let sum = vmlaq_u32(to.0, from.0, signs.factors);
        Vector(vminq_u32(sum, vaddq_u32(sum, signs.backs)))
    }
}
