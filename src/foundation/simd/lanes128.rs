//! Lanes in 128 bits, of NEON or of WebAssembly: what [`v128`](super::v128) has in common for both.
#![allow(unsafe_code, reason = "vector loads and stores through references of the right size")]

use std::ops::{BitAnd, BitOr, BitOrAssign, BitXor, Sub};

use super::Lane;
use crate::simd::array_of;

/// Lanes, with the instructions for vectors of them.
pub trait Lanes: Lane {
    /// The vector of the tier.
    type Register: Copy;

    fn splat(lane: Self) -> Self::Register;
    fn and(a: Self::Register, b: Self::Register) -> Self::Register;
    fn or(a: Self::Register, b: Self::Register) -> Self::Register;
    fn xor(a: Self::Register, b: Self::Register) -> Self::Register;
    fn sub(a: Self::Register, b: Self::Register) -> Self::Register;
    fn without(a: Self::Register, b: Self::Register) -> Self::Register;
    fn equal(a: Self::Register, b: Self::Register) -> Self::Register;
    fn funnel(low: Self::Register, high: Self::Register, by: usize) -> Self::Register;
}

/// 16 bytes in a register, as lanes of `T`.
#[derive(Clone, Copy)]
pub struct Vector<T: Lanes>(pub T::Register);

impl<T: Lanes> Vector<T> {
    /// The same value in every lane.
    #[inline(always)]
    pub fn splat(lane: T) -> Self {
        Vector(T::splat(lane))
    }

    /// All ones in the lanes that are equal, and zero in the others.
    #[inline(always)]
    pub fn equal(self, other: Self) -> Self {
        Vector(T::equal(self.0, other.0))
    }

    /// The bits that are not set in `other`.
    #[inline(always)]
    pub fn without(self, other: Self) -> Self {
        Vector(T::without(self.0, other.0))
    }

    /// The bits of each lane from bit `by` on, followed by the low bits of the same lane of `high`. `by` is less than
    /// the width of a lane.
    #[inline(always)]
    pub fn funnel(self, high: Self, by: usize) -> Self {
        Vector(T::funnel(self.0, high.0, by))
    }
}

macro_rules! operators {
    ($($operator:ident::$function:ident = $instruction:ident),*) => { $(
        impl<T: Lanes> $operator for Vector<T> {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                Vector(T::$instruction(self.0, other.0))
            }
        }
    )* };
}
operators! { BitAnd::bitand = and, BitOr::bitor = or, BitXor::bitxor = xor, Sub::sub = sub }

impl<T: Lanes> BitOrAssign for Vector<T> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Loads 16 bytes: `N` lanes of `T`.
#[inline(always)]
pub fn load<T: Lanes, const N: usize>(from: &[T; N]) -> Vector<T> {
    const { assert!(size_of::<[T; N]>() == 16 && size_of::<T::Register>() == 16, "a vector has 16 bytes") };
    // SAFETY: the reference covers the 16 bytes read (asserted above), and every bit pattern is a vector.
    Vector(unsafe { from.as_ptr().cast::<T::Register>().read_unaligned() })
}

/// Loads 16 bytes, the least significant of each lane first.
#[inline(always)]
pub fn load_bytes<T: Lanes>(from: &[u8; 16]) -> Vector<T> {
    const { assert!(size_of::<T::Register>() == 16 && cfg!(target_endian = "little"), "a vector has 16 bytes") };
    // SAFETY: the reference covers the 16 bytes read (asserted above), and every bit pattern is a vector.
    Vector(unsafe { from.as_ptr().cast::<T::Register>().read_unaligned() })
}

/// Stores 16 bytes: `N` lanes of `T`.
#[inline(always)]
pub fn store<T: Lanes, const N: usize>(to: &mut [T; N], v: Vector<T>) {
    const { assert!(size_of::<[T; N]>() == 16 && size_of::<T::Register>() == 16, "a vector has 16 bytes") };
    // SAFETY: the reference covers the 16 bytes written (asserted above), and every bit pattern is a `T`.
    unsafe { to.as_mut_ptr().cast::<T::Register>().write_unaligned(v.0) }
}

/// ORs sources into `V` vectors, which stay in registers until the end.
#[inline(always)]
pub fn or_all<'a, const V: usize>(to: &mut [[u8; 16]; V], sources: impl Iterator<Item = &'a [[u8; 16]; V]>) {
    let mut sums: [Vector<u8>; V] = array_of(|v| load(&to[v]));
    for source in sources {
        for (sum, source) in sums.iter_mut().zip(source) {
            *sum |= load(source);
        }
    }
    for (to, sum) in to.iter_mut().zip(sums) {
        store(to, sum);
    }
}

/// Four words: 256 candidates of bit rows.
pub type Words = [Vector<u64>; 2];
/// The number of words in [`Words`].
pub const WORDS: usize = 4;

/// Loads four words.
#[inline(always)]
pub fn words(from: &[u64; WORDS]) -> Words {
    let pairs = from.as_chunks::<2>().0;
    [load(&pairs[0]), load(&pairs[1])]
}

/// The OR of two groups of four words.
#[inline(always)]
pub fn or(a: Words, b: Words) -> Words {
    [a[0] | b[0], a[1] | b[1]]
}

/// The 64 bits from bit `by` of each word of `low` on, where the same word of `high` follows it.
#[inline(always)]
pub fn funnel(low: Words, high: Words, by: usize) -> Words {
    [low[0].funnel(high[0], by), low[1].funnel(high[1], by)]
}

/// One of four words.
#[inline(always)]
pub fn word_of(words: Words, word: usize) -> u64 {
    let mut all = [0; WORDS];
    for (all, words) in all.as_chunks_mut::<2>().0.iter_mut().zip(words) {
        store(all, words);
    }
    all[word]
}
