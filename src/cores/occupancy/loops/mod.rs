//! The tiers of the kernels that run the register automaton of [`super::streaming`].

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod asm;
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512;

use super::streaming::segments;
use super::{ProportionateNim, windows};
use crate::kernel::{Run, RunError};

/// The work of a tier, for a sink `S`, compiled for the tier of the function that [`parts!`] is in.
#[derive(Debug)]
pub struct Loops<S> {
    /// [`streaming::drive`](super::streaming::drive).
    pub drive: fn(&ProportionateNim, &Run, S) -> Result<S, RunError>,
    /// The share of a thread of a run in segments: [`segments::Shared::work`].
    pub segments: fn(&segments::Shared<'_, S>) -> Result<(), RunError>,
    /// The work on windows.
    pub windows: windows::Loops,
}

/// The [`Loops`] of a tier for a sink, given what makes its inner loops.
macro_rules! parts {
    ($sink:ident, $inner:expr) => {
        $crate::cores::occupancy::loops::Loops::<$sink> {
            drive: |input, run, sink| $crate::cores::occupancy::streaming::drive(input, run, sink, $inner),
            segments: |shared| shared.work($crate::cores::occupancy::streaming::segments::Alone($inner)),
            windows: $crate::cores::occupancy::windows::loops!($inner),
        }
    };
}
use parts;

/// 64-bit words of plain Rust.
pub mod plain {
    use super::*;
    use crate::cores::occupancy::Sink;
    use crate::cores::occupancy::streaming::Plain;

    /// The parts of the build's target.
    pub fn parts<S: Sink>() -> Loops<S> {
        parts!(S, Plain)
    }

    /// The same source, compiled with the tier's bit-manipulation instructions.
    #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
    pub mod avx2 {
        use super::*;

        /// The parts of this tier.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        pub fn parts<S: Sink>() -> Loops<S> {
            parts!(S, Plain)
        }
    }
}
