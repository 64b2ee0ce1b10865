//! Vectors of 128 bits, for kernels that NEON and the vectors of WebAssembly share. Both look up bytes in a table of
//! sixteen, and give zero for any other index; neither has masks.
//!
//! The file of the tier, `neon` or `simd128`, has the instructions, and the functions that the two tiers implement
//! differently. Each tier is on for a whole build: every 64-bit ARM CPU has NEON, and an engine either accepts a module
//! of WebAssembly or refuses it. So code with vectors needs no `target_feature`.

#[cfg(all(target_arch = "aarch64", feature = "neon"))]
use super::neon as tier;
#[cfg(all(target_feature = "simd128", feature = "simd128"))]
use super::simd128 as tier;

pub use super::lanes128::{Lanes, Vector, WORDS, Words, funnel, load, load_bytes, or, or_all, store, word_of, words};
pub use tier::{SUMS, add_signed, any, bits, first_zero, full_words, lookup, next_lanes, one_bit, signs, transposed};
