//! First heaps of Grundy values, in the core `mex` of nimlanes.
//!
//! **Only the crate [`nimlanes`](https://docs.rs/nimlanes) is stable.** It re-exports what is meant for others; all else here may change in
//! any release.

#![cfg_attr(
    not(all(target_arch = "x86_64", feature = "avx2", feature = "avx512")),
    allow(dead_code, unused_imports, unused_macros, reason = "drivers whose only kernels are left out of the build")
)]

use nimlanes_foundation::kernel::session::AnyOperation;
use nimlanes_foundation::{kernel, listed, machine, moves, simd, text};

/// The paths of modules are those of files below `src`: listings, reports and profiles show them.
#[path = ""]
pub mod cores {
    /// The operation `mex_records`.
    #[path = ""]
    pub mod mex {
        use nimlanes_mex_base::cores::mex::{checkpoint, lanes, oracle, residues};

        #[path = "mod.rs"]
        pub mod records;
    }
}

listed! {
    /// The operation [`cores::mex::records::MexRecords`].
    RECORDS: AnyOperation = AnyOperation::of::<cores::mex::records::MexRecords>();

    /// The operations of this crate.
    OPERATIONS: &[&AnyOperation] = &[&RECORDS];
}
