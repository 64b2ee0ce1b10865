//! Subtraction sets in the core `mex` of nimlanes.
//!
//! **Only the crate [`nimlanes`](https://docs.rs/nimlanes) is stable.** It re-exports what is meant for others; all else here may change in
//! any release.

#![cfg_attr(all(feature = "std_simd", nightly_compiler), feature(portable_simd))]
#![cfg_attr(
    not(all(
        target_arch = "x86_64",
        feature = "bitvec",
        feature = "fearless_simd",
        feature = "wide",
        feature = "avx2",
        feature = "avx512",
        feature = "parallel"
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "drivers whose only kernels are left out of the build")
)]

use nimlanes_foundation::kernel::session::AnyOperation;
#[doc(hidden)]
pub use nimlanes_foundation::{kernel, machine, moves};
use nimlanes_foundation::{listed, simd, text};

/// The paths of modules are those of files below `src`: listings, reports and profiles show them.
#[path = ""]
pub mod cores {
    use nimlanes_foundation::growing;

    /// The operations on subtraction sets.
    #[path = ""]
    pub mod mex {
        use nimlanes_mex_base::cores::mex::{checkpoint, lanes, oracle, residues, translate};

        pub mod family;
        pub mod split;
        pub mod subtraction;
        pub mod zeros;
    }
}

use cores::mex::{family::MexFamily, split::MexSplit, subtraction::MexSubtraction, zeros::MexZeros};

listed! {
    /// The operation [`MexSubtraction`].
    SUBTRACTION: AnyOperation = AnyOperation::of::<MexSubtraction>();

    /// The operation [`MexZeros`].
    ZEROS: AnyOperation = AnyOperation::of::<MexZeros>();

    /// The operation [`MexSplit`].
    SPLIT: AnyOperation = AnyOperation::of::<MexSplit>();

    /// The operation [`MexFamily`].
    FAMILY: AnyOperation = AnyOperation::of::<MexFamily>();

    /// The operations of this crate.
    OPERATIONS: &[&AnyOperation] = &[&SUBTRACTION, &ZEROS, &SPLIT, &FAMILY];
}
