//! What the cores of [nimlanes](https://docs.rs/nimlanes) share: operations and their kernels, the machine, moves, and words and
//! vectors.
//!
//! **Only the crate `nimlanes` is stable.** It re-exports what is meant for others; all else here may change in any release.

#![cfg_attr(all(feature = "std_simd", nightly_compiler), feature(portable_simd))]

/// What refers to every kernel of a crate. Each is a static, compiled once with the crate of the kernels. In tests of what is private, where
/// a static would be compiled although nothing refers to it, they are constants.
#[doc(hidden)]
#[macro_export]
macro_rules! listed {
    ($($(#[$doc:meta])* $name:ident: $list:ty = $value:expr;)+) => { $(
        #[cfg(not(test))]
        $(#[$doc])*
        pub static $name: $list = $value;
        #[cfg(test)]
        $(#[$doc])*
        pub const $name: $list = $value;
    )+ };
}

#[doc(hidden)]
pub mod growing;
pub mod kernel;
pub mod known;
pub mod machine;
pub mod moves;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "parts of kernels")]
pub mod simd;
pub mod sink;
#[doc(hidden)]
pub mod text;
pub mod verify;
