//! The tiers of the kernels that run the register automaton of [`super::streaming`]: for each tier and driver a module with its parts.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod asm;
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512;

use super::streaming::segments::Shared;
use super::{Positions, ProportionateNim, windows};
use crate::kernel::{Run, RunError};

/// [`streaming::drive`](super::streaming::drive), compiled for a tier.
pub type Drive = fn(&ProportionateNim, &Run) -> Result<Positions, RunError>;

/// The share of a thread of a run in segments, compiled for a tier: [`Shared::work`].
pub type Segments = fn(&Shared<'_>) -> Result<(), RunError>;

/// The work on windows, and what smaller limits are left to.
#[derive(Debug)]
pub struct Windows {
    /// On one thread.
    pub drive: Drive,
    /// On several.
    pub segments: Segments,
    /// [`windows::drive`].
    pub windows: windows::Loops,
}

/// The modules of a tier, given its features and what makes its inner loops: `parts!([#[target_feature(..)]] inner(); alone, segments)`.
macro_rules! parts {
    (@alone [$($features:tt)*] $inner:expr) => {
        /// For the automaton.
        pub mod alone {
            use super::*;
            use $crate::cores::occupancy::{loops::Drive, streaming};

            /// The parts of this tier.
            $($features)*
            pub fn parts() -> Drive {
                |input, run| streaming::drive(input, run, $inner)
            }
        }
    };
    (@segments [$($features:tt)*] $inner:expr) => {
        /// For the automaton in segments.
        pub mod segments {
            use super::*;
            use $crate::cores::occupancy::{loops::Segments, streaming::segments::Alone};

            /// The parts of this tier.
            $($features)*
            pub fn parts() -> Segments {
                |shared| shared.work(Alone($inner))
            }
        }
    };
    (@windows [$($features:tt)*] $inner:expr) => {
        /// For windows.
        pub mod windows {
            use super::*;
            use $crate::cores::occupancy::{loops::Windows, windows::Loops};

            $($features)*
            fn loops() -> Loops {
                $crate::cores::occupancy::windows::loops!($inner)
            }

            /// The parts of this tier.
            $($features)*
            pub fn parts() -> Windows {
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
