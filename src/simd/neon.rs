//! 128-bit loads and stores, and what kernels do with several vectors at once.
#![allow(unsafe_code, reason = "vector loads and stores through references of the right size")]

use std::arch::aarch64::*;

use super::Lane;
use crate::simd::bits::{self, WORD};

/// Lanes of a vector.
pub trait Lanes: Lane {
    /// The vector of 16 bytes with such lanes.
    type Vector: Copy;
}

macro_rules! vectors {
    ($($lane:ty: $vector:ty),*) => { $(impl Lanes for $lane { type Vector = $vector; })* };
}
vectors! { u8: uint8x16_t, u16: uint16x8_t, u32: uint32x4_t, u64: uint64x2_t }

/// Loads 16 bytes: `N` lanes of `T`.
#[inline]
#[target_feature(enable = "neon")]
pub fn load<T: Lanes, const N: usize>(from: &[T; N]) -> T::Vector {
    const { assert!(size_of::<[T; N]>() == 16 && size_of::<T::Vector>() == 16, "a vector has 16 bytes") };
    // SAFETY: the reference covers the 16 bytes read (asserted above), and every bit pattern is a vector.
    unsafe { from.as_ptr().cast::<T::Vector>().read_unaligned() }
}

/// Stores 16 bytes: `N` lanes of `T`.
#[inline]
#[target_feature(enable = "neon")]
pub fn store<T: Lanes, const N: usize>(to: &mut [T; N], v: T::Vector) {
    const { assert!(size_of::<[T; N]>() == 16 && size_of::<T::Vector>() == 16, "a vector has 16 bytes") };
    // SAFETY: the reference covers the 16 bytes written (asserted above), and every bit pattern is a `T`.
    unsafe { to.as_mut_ptr().cast::<T::Vector>().write_unaligned(v) }
}

/// ORs sources into `V` vectors, which stay in registers meanwhile.
#[inline]
#[target_feature(enable = "neon")]
pub fn or_all<'a, const V: usize>(to: &mut [[u8; 16]; V], sources: impl Iterator<Item = &'a [[u8; 16]; V]>) {
    let mut sum: [uint8x16_t; V] = std::array::from_fn(|v| load(&to[v]));
    for source in sources {
        for (sum, source) in sum.iter_mut().zip(source) {
            *sum = vorrq_u8(*sum, load(source));
        }
    }
    for (to, sum) in to.iter_mut().zip(sum) {
        store(to, sum);
    }
}

/// Four words: 256 candidates of bit rows.
pub type Words = [uint64x2_t; 2];
/// Their number.
pub const WORDS: usize = 4;

/// Loads four words.
#[inline]
#[target_feature(enable = "neon")]
pub fn words(from: &[u64; WORDS]) -> Words {
    let pairs = from.as_chunks::<2>().0;
    [load(&pairs[0]), load(&pairs[1])]
}

/// The OR of two times four words.
#[inline]
#[target_feature(enable = "neon")]
pub fn or(a: Words, b: Words) -> Words {
    [vorrq_u64(a[0], b[0]), vorrq_u64(a[1], b[1])]
}

/// The 64 bits from bit `by` of each word of `low` on, which the word of `high` follows.
#[inline]
#[target_feature(enable = "neon")]
pub fn funnel(low: Words, high: Words, by: usize) -> Words {
    // A negative count shifts down; a shift by 64 gives zero.
    let (down, up) = (vdupq_n_s64(-(by as i64)), vdupq_n_s64((WORD - by) as i64));
    or(low.map(|low| vshlq_u64(low, down)), high.map(|high| vshlq_u64(high, up)))
}

/// The first zero of four words; 256 if there is none.
#[inline]
#[target_feature(enable = "neon")]
pub fn first_zero(words: Words) -> usize {
    let full = words.map(|words| vreinterpretq_u32_u64(vceqq_u64(words, vdupq_n_u64(u64::MAX))));
    // A quarter of this word for each.
    let full = vget_lane_u64::<0>(vreinterpret_u64_u16(vmovn_u32(vuzp1q_u32(full[0], full[1]))));
    let word = bits::first_zero(full) / (WORD / WORDS);
    if word == WORDS {
        return WORDS * WORD;
    }
    let mut all = [0; WORDS];
    for (all, words) in all.as_chunks_mut::<2>().0.iter_mut().zip(words) {
        store(all, words);
    }
    word * WORD + bits::first_zero(all[word])
}
