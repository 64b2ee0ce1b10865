//! What the operations of the core `mex` of nimlanes share.
//!
//! **Only the crate [`nimlanes`](https://docs.rs/nimlanes) is stable.** It re-exports what is meant for others; all else here may change in
//! any release.

#![cfg_attr(all(feature = "std_simd", nightly_compiler), feature(portable_simd))]
#![cfg_attr(
    not(all(target_arch = "x86_64", feature = "wide", feature = "avx2", feature = "avx512")),
    allow(dead_code, unused_imports, unused_macros, reason = "drivers whose only kernels are left out of the build")
)]

#[cfg(test)]
use nimlanes_foundation::moves;
use nimlanes_foundation::{kernel, machine, simd};

/// The paths of modules are those of files below `src`: listings, reports and profiles show them.
#[path = ""]
pub mod cores {
    /// What the operations of the core share.
    #[path = ""]
    pub mod mex {
        pub mod checkpoint;
        #[doc(hidden)]
        #[allow(missing_debug_implementations, reason = "parts of kernels")]
        pub mod lanes;
        #[doc(hidden)]
        pub mod oracle {
            //! The oracle for subtraction sets: Grundy values computed directly from the rules of the game.

            /// The Grundy values of the heaps `0..heaps`, each the mex of the values that the moves reach.
            pub fn values(moves: &[usize], heaps: usize) -> Vec<usize> {
                let mut values: Vec<usize> = Vec::with_capacity(heaps);
                for n in 0..heaps {
                    // A heap has no more moves than these, so that it leaves one of so many values free.
                    let mut reached = vec![false; moves.len() + 1];
                    moves.iter().filter(|m| **m <= n).for_each(|m| reached[values[n - m]] = true);
                    values.push(reached.iter().position(|is_reached| !is_reached).expect("fewer moves than values"));
                }
                values
            }
        }
        #[doc(hidden)]
        pub mod residues;
        #[doc(hidden)]
        pub mod translate;
    }
}
