//! The core `table_scan` of nimlanes.
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
use nimlanes_foundation::{growing, kernel, listed, machine, simd};

/// The paths of modules are those of files below `src`: listings, reports and profiles show them.
#[path = ""]
pub mod cores {
    use nimlanes_foundation::sink;

    #[path = "mod.rs"]
    pub mod table_scan;
}

listed! {
    /// The operation.
    TABLE_SCAN: AnyOperation = AnyOperation::of::<cores::table_scan::TableScan>();

    /// The operations of this crate.
    OPERATIONS: &[&AnyOperation] = &[&TABLE_SCAN];
}
