//! Words and vectors: bits of words, and small, safe, checked functions for loads and stores of vectors.
//!
//! `unsafe` code is allowed here, where `c` also calls C, in the dispatch of [`crate::kernel`], in the one kernel that is written in
//! assembly, and in [`crate::machine`] for the advice on pages and for calls of Windows.
//!
//! Arithmetic intrinsics are safe in a function that has their CPU feature; only those that take a pointer are not. A
//! helper takes a reference to exactly the bytes it touches, so the check is the caller's slicing, once per block.

// The AVX-512 tier also uses vectors of 256 bits.
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
pub mod bits;
#[cfg(feature = "c")]
pub mod c;
#[cfg(feature = "fearless_simd")]
pub mod fearless;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod lanes128;
pub mod line;
#[cfg(all(target_arch = "aarch64", feature = "neon"))]
pub mod neon;
pub mod probe;
#[cfg(feature = "pulp")]
pub mod pulp;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128", feature = "simd128"))]
pub mod simd128;
#[cfg(all(feature = "std_simd", nightly_compiler))]
pub mod std_simd;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
pub mod vectors;
pub mod walsh;

/// The array of `f(0)`, `f(1)`, ... `f(N - 1)`; `N` is at least 1. `f` only computes: the call for 0 is made twice.
///
/// Unlike [`std::array::from_fn`], this is a loop over copies: a fourteenth of the code before optimisation, which is compiled
/// anew for each caller.
#[inline(always)]
pub fn array_of<T: Copy, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    const { assert!(N > 0, "an empty array has no first element to copy") };
    let mut array = [f(0); N];
    // From the first one on again: a loop over all of a register is one vector, and the fill above is dead.
    let mut i = 0;
    while i < N {
        array[i] = f(i);
        i += 1;
    }
    array
}

/// The array of `f(array[0])`, ... `f(array[N - 1])`, as [`array_of`] in place of `array.map(f)`.
#[inline(always)]
pub fn mapped<T: Copy, U: Copy, const N: usize>(array: [T; N], f: impl Fn(T) -> U) -> [U; N] {
    array_of(|i| f(array[i]))
}

/// Element types that fill a vector without padding and for which every bit pattern is valid.
pub trait Lane: Copy + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! lanes {
    ($($t:ty)*) => { $(
        impl sealed::Sealed for $t {}
        impl Lane for $t {}
    )* };
}
lanes! { u8 u16 u32 u64 }
