//! 256-bit loads and stores.
#![allow(unsafe_code, reason = "vector loads and stores through references of the right size")]

use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};

use super::Lane;
use crate::machine::isa::tier;

/// Loads 32 bytes: `N` lanes of `T`.
#[inline]
#[tier(Avx2)]
pub fn load<T: Lane, const N: usize>(from: &[T; N]) -> __m256i {
    const { assert!(size_of::<T>() * N == 32, "a vector has 32 bytes") };
    // SAFETY: the reference covers the 32 bytes read (asserted above); the load needs no alignment.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

/// Stores 32 bytes: `N` lanes of `T`.
#[inline]
#[tier(Avx2)]
pub fn store<T: Lane, const N: usize>(to: &mut [T; N], v: __m256i) {
    const { assert!(size_of::<T>() * N == 32, "a vector has 32 bytes") };
    // SAFETY: the reference covers the 32 bytes written (asserted above), and every bit pattern is a `T`.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), v) }
}
