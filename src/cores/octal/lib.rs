//! Octal games in the core `mex` of nimlanes: their Grundy values, and their periods.
//!
//! **Only the crate [`nimlanes`](https://docs.rs/nimlanes) is stable.** It re-exports what is meant for others; all else here may change in
//! any release.

#![cfg_attr(
    not(all(target_arch = "x86_64", feature = "avx2", feature = "avx512", feature = "parallel")),
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

    /// The operations by the paths that they have in `nimlanes`, and what they share with others.
    pub mod mex {
        pub use super::octal::{octal, period};
        pub use nimlanes_mex_base::cores::mex::checkpoint;
        pub(super) use nimlanes_mex_base::cores::mex::{lanes, translate};
    }

    /// Octal games.
    #[path = ""]
    pub mod octal {
        use super::mex::translate;

        /// A workload: a code with a line about its game.
        macro_rules! workload {
            ($code:literal, $published:expr, $sizes:expr, $summary:literal) => {
                Workload {
                    name: $code,
                    summary: concat!($summary, "; size = the largest heap"),
                    published: $published,
                    sizes: &$sizes,
                }
            };
        }

        #[expect(clippy::module_inception, reason = "the core has the name of its first operation")]
        pub mod octal;
        pub mod period;
        mod sparse;
    }
}

listed! {
    /// The operation [`cores::octal::octal::MexOctal`].
    OCTAL: AnyOperation = AnyOperation::of::<cores::octal::octal::MexOctal>();

    /// The operation [`cores::octal::period::MexPeriod`].
    PERIOD: AnyOperation = AnyOperation::of::<cores::octal::period::MexPeriod>();

    /// The operations of this crate.
    OPERATIONS: &[&AnyOperation] = &[&OCTAL, &PERIOD];
}
