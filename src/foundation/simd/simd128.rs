//! The WebAssembly instructions of [`v128`](super::v128). On x86, an engine adds a saturating addition before each
//! lookup, as `pshufb` reads only four bits of an index below 128.

use std::arch::wasm32::*;

use super::lanes128::{Lanes, Vector, WORDS, Words, load, word_of};
use crate::simd::array_of;
use crate::simd::bits::{self, WORD};

/// The number of sums that stay in registers while other vectors are added: half of the registers of an x86 without
/// AVX-512.
pub const SUMS: usize = 8;

macro_rules! lanes {
    ($($lane:ty: $splat:ident $sub:ident $equal:ident $down:ident $above:ident;)*) => { $(
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

            #[inline(always)]
            fn funnel(low: v128, high: v128, by: usize) -> v128 {
                v128_or($down(low, by as u32), $above(high, by))
            }
        }
    )* };
}
lanes! {
    u8: u8x16_splat u8x16_sub u8x16_eq u8x16_shr above_u8;
    u16: u16x8_splat u16x8_sub u16x8_eq u16x8_shr above_u16;
    u32: u32x4_splat u32x4_sub u32x4_eq u32x4_shr above_u32;
    u64: u64x2_splat u64x2_sub u64x2_eq u64x2_shr above_u64;
}

/// The lanes of `high` shifted up by their width minus `by`. Counts are taken modulo the width, so a shift by the whole
/// width takes two shifts.
macro_rules! above {
    ($($above:ident $lane:ty: $up:ident;)*) => { $(
        #[inline(always)]
        fn $above(high: v128, by: usize) -> v128 {
            $up($up(high, 1), <$lane>::BITS - 1 - by as u32)
        }
    )* };
}
above! { above_u8 u8: u8x16_shl; above_u16 u16: u16x8_shl; above_u64 u64: u64x2_shl; }

/// Like the others, but by a product: an x86 takes four instructions for a shift by a count that is unknown at compile
/// time.
#[inline(always)]
fn above_u32(high: v128, by: usize) -> v128 {
    /// Powers of two, modulo 2^32. If a factor were computed, the compiler would turn the product into a shift.
    static FACTORS: [u32; 32] = {
        let mut factors = [0; 32];
        let mut by = 1;
        while by < 32 {
            factors[by] = 1 << (32 - by);
            by += 1;
        }
        factors
    };
    u32x4_mul(high, u32x4_splat(FACTORS[by]))
}

/// The bytes of the table at these indices; zero for an index past 15.
#[inline(always)]
pub fn lookup(table: Vector<u8>, indices: Vector<u8>) -> Vector<u8> {
    Vector(u8x16_swizzle(table.0, indices.0))
}

/// One bit for each of 64 bytes, each of which is all ones or zero.
#[inline(always)]
pub fn bits(bytes: [Vector<u8>; 4]) -> u64 {
    bytes.iter().rev().fold(0, |word, bytes| word << 16 | u64::from(u8x16_bitmask(bytes.0)))
}

/// Word `i` has byte `i` of each of the eight rows: three rounds of shuffles bring them together.
#[inline(always)]
pub fn transposed(rows: [Vector<u8>; 8]) -> [Vector<u64>; 8] {
    // Two rows for eight words each, four rows for four, then all rows for two.
    let pairs: [[v128; 2]; 4] = array_of(|p| {
        let (a, b) = (rows[2 * p].0, rows[2 * p + 1].0);
        [
            u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
            u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
        ]
    });
    let fours: [[v128; 4]; 2] = array_of(|p| {
        array_of(|i| {
            let (a, b) = (pairs[2 * p][i / 2], pairs[2 * p + 1][i / 2]);
            match i % 2 {
                0 => u16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b),
                _ => u16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b),
            }
        })
    });
    array_of(|i| {
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

/// The lanes of `low` except the first, then the first lane of `high`.
#[inline(always)]
pub fn next_lanes(low: Vector<u32>, high: Vector<u32>) -> Vector<u32> {
    Vector(u32x4_shuffle::<1, 2, 3, 4>(low.0, high.0))
}

/// The number of words at the beginning of a row of two or four vectors that have no zero; 16 if no word has one.
#[inline(always)]
pub fn full_words<const V: usize>(row: [Vector<u32>; V]) -> usize {
    // One byte for each word. The words of a row of two vectors appear twice.
    let full = |v: usize| row[v].equal(Vector::splat(u32::MAX)).0;
    let halves = |v: usize| i16x8_narrow_i32x4(full(v), full(v + 1));
    u32::from(i8x16_bitmask(i8x16_narrow_i16x8(halves(0), halves(V - 2)))).trailing_ones() as usize
}

/// Each lane with only the bit at `at` set, or none if a lane has no such bit.
///
/// Shifts have one count for all lanes, so the bits are looked up. The index of the lower byte is the place, and that
/// of the upper byte is 8 less, which wraps past 15 if the place is below 8.
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

/// Signs of four lanes, for sums modulo a number: 1 or -1, and the modulus with that sign. A product is one operation;
/// masks would take two.
#[derive(Clone, Copy)]
pub struct Signs {
    sign: v128,
    modulus: v128,
}

/// The signs for a modulus less than 2^31.
#[inline(always)]
pub fn signs(are_negative: [bool; 4], modulus: u32) -> Signs {
    /// If the signs were computed, the compiler would turn the product into a select.
    static SIGNS: [u32; 2] = [1, u32::MAX];
    let Vector(sign) = load(&are_negative.map(|is| SIGNS[usize::from(is)]));
    Signs { sign, modulus: u32x4_mul(sign, u32x4_splat(modulus)) }
}

/// `to` plus or minus `from`. A sum may be too large by the modulus, and a difference too small; the wrong one of the
/// two candidates is larger, as a number below 0 wraps to a large one.
#[inline(always)]
pub fn add_signed(to: Vector<u32>, from: Vector<u32>, signs: Signs) -> Vector<u32> {
    let sum = u32x4_add(to.0, u32x4_mul(from.0, signs.sign));
    Vector(u32x4_min(sum, u32x4_sub(sum, signs.modulus)))
}
