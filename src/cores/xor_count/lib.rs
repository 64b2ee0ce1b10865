//! The core `xor_count` of nimlanes.
//!
//! **Only the crate [`nimlanes`](https://docs.rs/nimlanes) is stable.** It re-exports what is meant for others; all else here may change in
//! any release.

#![cfg_attr(all(feature = "std_simd", nightly_compiler), feature(portable_simd))]
#![cfg_attr(
    not(all(
        target_arch = "x86_64",
        feature = "fearless_simd",
        feature = "wide",
        feature = "avx2",
        feature = "avx512",
        feature = "parallel"
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "drivers whose only kernels are left out of the build")
)]

use nimlanes_foundation::kernel::session::AnyOperation;
use nimlanes_foundation::{kernel, listed, machine, moves, simd};

/// The paths of modules are those of files below `src`: listings, reports and profiles show them.
#[path = ""]
pub mod cores {
    use nimlanes_mex::cores::mex;

    #[path = "mod.rs"]
    pub mod xor_count;
}

use cores::xor_count::{partitions::XorPartitions, triples::XorTriples};

listed! {
    /// The operation [`XorTriples`].
    TRIPLES: AnyOperation = AnyOperation::of::<XorTriples>();

    /// The operation [`XorPartitions`].
    PARTITIONS: AnyOperation = AnyOperation::of::<XorPartitions>();

    /// The operations of this crate.
    OPERATIONS: &[&AnyOperation] = &[&TRIPLES, &PARTITIONS];
}
