//! Byte lanes: 64 consecutive heaps are 64 bytes, for the operations whose moves reach the same distances from each heap.
//!
//! Values are split into windows of 63. A window keeps one byte per heap, the *code*: `63 - v` for a heap whose value is the
//! window's `v`, and 0 for all other heaps, for heaps not known yet and for padding. So one contiguous load at `n - m` holds what
//! the move `m` contributes to the heaps `n..n + 64`, without special cases.
//!
//! A tier decodes codes to one-hot bits, eight *planes* of eight values each, which it ORs over the moves, and transposes the
//! planes to one word of free values per heap: a [`Decoder`], which the file of each tier makes in `parts`. Each operation has its own code for what it does with the lanes.

mod crates;
mod decoder;
pub mod plain;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
mod x86;

pub use crates::*;
pub use decoder::*;
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub use x86::*;
