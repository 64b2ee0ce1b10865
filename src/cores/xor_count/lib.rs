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

    /// **Frequency-count XOR**: how many multisets of heaps have nim-sum 0, counted by Grundy value instead of heap by heap.
    #[path = ""]
    pub mod xor_count {
        use crate::kernel::Operation;
        use crate::kernel::selection::Selection;
        use crate::kernel::workload::{InputError, ValuesError};

        pub mod partitions;
        pub mod triples;

        /// Computes the Grundy values for an input of this core, by a kernel that runs here even if the machine is a described one. This is
        /// not part of what is compared or timed.
        fn values_of<O: Operation>(
            input: Result<O::Input, InputError>,
            operation: &'static str,
            selection: &Selection,
        ) -> Result<O::Output, InputError> {
            let compute = || -> Result<O::Output, ValuesError> {
                let input = input?;
                let kernel = selection.on_this_cpu().kernel::<O>(&input)?;
                Ok(kernel.run(&input, &selection.run())?)
            };
            compute().map_err(|source| InputError::Values { operation, source: Box::new(source) })
        }
    }
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
