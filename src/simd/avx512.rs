//! 512-bit loads and stores.
#![allow(unsafe_code, reason = "vector loads and stores through references of the right size")]

use std::arch::x86_64::{__m512i, _MM_HINT_T0, _mm_prefetch, _mm512_loadu_si512, _mm512_storeu_si512};

use super::Lane;

/// Loads 64 bytes: `N` lanes of `T`.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn load<T: Lane, const N: usize>(from: &[T; N]) -> __m512i {
    const { assert!(size_of::<T>() * N == 64, "a vector has 64 bytes") };
    // SAFETY: the reference covers the 64 bytes read (asserted above); the load needs no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// Stores 64 bytes: `N` lanes of `T`.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn store<T: Lane, const N: usize>(to: &mut [T; N], v: __m512i) {
    const { assert!(size_of::<T>() * N == 64, "a vector has 64 bytes") };
    // SAFETY: the reference covers the 64 bytes written (asserted above), and every bit pattern is a `T`.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), v) }
}

/// Prefetches the cache line that is `bytes` bytes after the start of `memory`; nothing needs to be there.
#[inline(always)]
pub fn prefetch<T>(memory: &[T], bytes: usize) {
    // SAFETY: a prefetch is a hint: it reads nothing, and no address is wrong for it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.as_ptr().cast::<i8>().wrapping_add(bytes)) };
}

/// The lanes of a vector.
#[inline(always)]
pub fn lanes_of<T: Lane, const N: usize>(v: __m512i) -> [T; N] {
    const { assert!(size_of::<[T; N]>() == 64, "a vector has 64 bytes") };
    // SAFETY: the sizes are equal (asserted above), and every bit pattern is a `T`.
    unsafe { std::mem::transmute_copy(&v) }
}
