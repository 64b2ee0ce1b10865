//! The core `occupancy` of nimlanes.
//!
//! **Only the crate [`nimlanes`](https://docs.rs/nimlanes) is stable.** It re-exports what is meant for others; all else here may change in
//! any release.

#![cfg_attr(
    not(all(
        target_arch = "x86_64",
        feature = "bitvec",
        feature = "wide",
        feature = "avx2",
        feature = "avx512",
        feature = "parallel"
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "drivers whose only kernels are left out of the build")
)]

use nimlanes_foundation::kernel::session::AnyOperation;
use nimlanes_foundation::{kernel, listed, machine, moves, simd, text};

/// The paths of modules are those of files below `src`: listings, reports and profiles show them.
#[path = ""]
pub mod cores {
    use nimlanes_foundation::{growing, sink};

    #[path = "mod.rs"]
    pub mod occupancy;
}

listed! {
    /// The operation.
    OCCUPANCY: AnyOperation = AnyOperation::of::<cores::occupancy::Occupancy>();

    /// The operations of this crate.
    OPERATIONS: &[&AnyOperation] = &[&OCCUPANCY];
}
