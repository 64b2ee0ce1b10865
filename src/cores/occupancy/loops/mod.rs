//! The tiers of the kernels that run the register automaton of [`super::streaming`]: for each tier and driver a module with its parts.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod asm;
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512;

use super::streaming::segments::Shared;
use super::{ProportionateNim, windows};
use crate::kernel::{Run, RunError};

/// [`streaming::drive`](super::streaming::drive), compiled for a tier.
pub type Drive<S> = fn(&ProportionateNim, &Run, S) -> Result<S, RunError>;

/// The share of a thread of a run in segments, compiled for a tier: [`Shared::work`].
pub type Segments<S> = fn(&Shared<'_, S>) -> Result<(), RunError>;

/// The work on windows, and what smaller limits are left to.
#[derive(Debug)]
pub struct Windows<S> {
    /// On one thread.
    pub drive: Drive<S>,
    /// On several.
    pub segments: Segments<S>,
    /// [`windows::drive`].
    pub windows: windows::Loops,
}

/// The modules of a tier, given its features and what makes its inner loops: `parts!([#[target_feature(..)]] inner(); alone, segments)`.
macro_rules! parts {
    (@alone [$($features:tt)*] $inner:expr) => {
        /// For the automaton.
        pub mod alone {
            use super::*;
            use $crate::cores::occupancy::{Sink, loops::Drive, streaming};

            /// The parts of this tier.
            $($features)*
            pub fn parts<S: Sink>() -> Drive<S> {
                |input, run, sink| streaming::drive(input, run, sink, $inner)
            }
        }
    };
    (@segments [$($features:tt)*] $inner:expr) => {
        /// For the automaton in segments.
        pub mod segments {
            use super::*;
            use $crate::cores::occupancy::{Sink, loops::Segments, streaming::segments::Alone};

            /// The parts of this tier.
            $($features)*
            pub fn parts<S: Sink>() -> Segments<S> {
                |shared| shared.work(Alone($inner))
            }
        }
    };
    (@windows [$($features:tt)*] $inner:expr) => {
        /// For windows.
        pub mod windows {
            use super::*;
            use $crate::cores::occupancy::{Sink, loops::Windows, windows::Loops};

            /// Once for all sinks.
            $($features)*
            fn loops() -> Loops {
                $crate::cores::occupancy::windows::loops!($inner)
            }

            /// The parts of this tier.
            $($features)*
            pub fn parts<S: Sink>() -> Windows<S> {
                Windows { drive: alone::parts(), segments: segments::parts(), windows: loops() }
            }
        }
    };
    ($features:tt $inner:expr; $($driver:ident),+) => {
        $($crate::cores::occupancy::loops::parts!(@$driver $features $inner);)+
    };
}
use parts;

/// 64-bit words of plain Rust.
pub mod plain {
    use crate::cores::occupancy::streaming::Plain;

    parts!([] Plain; alone, segments, windows);

    /// The same source, compiled with the tier's bit-manipulation instructions.
    #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
    pub mod avx2 {
        use super::*;

        parts!([#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]] Plain; alone);
    }
}
