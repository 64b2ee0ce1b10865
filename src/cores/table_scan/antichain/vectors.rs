//! Vectors of heaps and places, sixteen at a time.

use std::arch::x86_64::*;

/// Lanes of a vector of places.
pub const LANES: usize = 16;

/// The numbers of the lanes.
pub const LANE: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

#[inline]
#[target_feature(enable = "avx512f")]
pub fn splat(n: usize) -> __m512i {
    _mm512_set1_epi32(n as i32)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub fn sub(a: __m512i, b: __m512i) -> __m512i {
    _mm512_sub_epi32(a, b)
}

/// The indices of the set bits, ascending.
#[inline(always)]
pub fn ones(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then_some(set.trailing_zeros() as usize % LANES);
        set &= set.wrapping_sub(1);
        first
    })
}
