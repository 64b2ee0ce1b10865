//! `std::simd`, the vectors of the standard library, at each tier. They need a nightly compiler.
//!
//! A vector has as many lanes as the source says, and the compiler splits it into registers of the function that it is in. So the
//! same source is compiled at each tier, and closures that it makes have the CPU features of the tier.

/// Modules `portable`, `avx2` and `avx512` with a function `parts`, whose body may use `REGISTER`: the bytes of a vector.
#[doc(hidden)]
#[macro_export]
macro_rules! by_tiers {
    ($parts:path, $body:expr) => {
        /// What the target of the build has.
        pub mod portable {
            use super::*;

            #[allow(dead_code, reason = "some parts have one width")]
            const REGISTER: usize = 32;

            /// The parts of this tier.
            #[inline(always)]
            pub fn parts() -> impl $parts {
                $body
            }
        }

        /// AVX2.
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        pub mod avx2 {
            use super::*;

            #[allow(dead_code, reason = "some parts have one width")]
            const REGISTER: usize = 32;

            /// The parts of this tier.
            #[inline]
            #[$crate::machine::isa::tier(Avx2)]
            pub fn parts() -> impl $parts {
                $body
            }
        }

        /// AVX-512.
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        pub mod avx512 {
            use super::*;

            #[allow(dead_code, reason = "some parts have one width")]
            const REGISTER: usize = 64;

            /// The parts of this tier.
            #[inline]
            #[$crate::machine::isa::tier(Avx512)]
            pub fn parts() -> impl $parts {
                $body
            }
        }
    };
}
pub use by_tiers;
