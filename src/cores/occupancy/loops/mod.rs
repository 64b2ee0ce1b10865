//! The tiers of the kernels that run the register automaton of [`super::streaming`]: the [`Loops`] of each, and those of
//! [windows](super::windows).

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod asm;
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512;

use super::streaming::{Loops, loops, plain as functions, prepare};
use super::windows::Loops as Windows;

/// 64-bit words of plain Rust.
pub mod plain {
    use super::*;

    pub use super::functions::parts;

    /// For windows.
    pub mod windows {
        use super::*;

        /// The parts of plain Rust.
        pub fn parts() -> Windows {
            Windows { of_tapes: super::parts(), prepare: prepare!(functions::append, functions::interleave) }
        }
    }

    /// The same source, compiled with the tier's bit-manipulation instructions.
    #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
    pub mod avx2 {
        use super::*;

        /// The parts of this tier.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        pub fn parts() -> Loops {
            use functions::{append, blocks, interleave, lower, open, sum_of_bits};
            loops!(append, interleave, open, blocks, lower, sum_of_bits)
        }
    }
}
