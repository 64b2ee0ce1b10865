//! The part in which the kernels of shifted rows differ, by tier.

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
pub mod plain;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;

/// Bytes of a line of heaps, one bit for each.
pub const LINE: usize = 64;

/// For each `b` in `back`, `carry(row, at, back, hits)` ORs the bytes of `row` from `at - b` on into `hits`, which is whole lines.
/// `row` has one more line at each end of these bytes.
pub trait Carry: Fn(&[u8], usize, &[usize], &mut [u8]) {}

impl<F: Fn(&[u8], usize, &[usize], &mut [u8])> Carry for F {}
