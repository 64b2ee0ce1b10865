//! The tiers of the kernels that run the register automaton of [`super::streaming`].

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod asm;
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512;

use std::marker::PhantomData;

use super::Sink;
use super::streaming::{InnerLoops, segments};
use super::windows;
use crate::kernel::RunError;

/// The parts of a tier, for a sink `S`.
pub trait Loops<S>: Sync {
    /// The inner loops of the automaton.
    fn inner(&self) -> impl InnerLoops;

    /// The share of a thread of a run in segments: [`segments::Shared::work`] with the inner loops.
    fn segments(&self, shared: &segments::Shared<'_, S>) -> Result<(), RunError>;

    /// The share of a thread of a run in windows: [`windows::Shared::work`] with the inner loops.
    fn windows(&self, shared: &windows::Shared<'_>) -> Result<(), windows::Failure>;
}

/// The parts as inner loops and closures, which have the CPU features of the function that makes them.
struct Parts<S, I, G, W> {
    inner: I,
    segments: G,
    windows: W,
    sink: PhantomData<fn(S)>,
}

impl<S, I, G, W> Loops<S> for Parts<S, I, G, W>
where
    I: InnerLoops + Sync,
    G: Fn(&segments::Shared<'_, S>) -> Result<(), RunError> + Sync,
    W: Fn(&windows::Shared<'_>) -> Result<(), windows::Failure> + Sync,
{
    #[inline(always)]
    fn inner(&self) -> impl InnerLoops {
        self.inner
    }

    #[inline(always)]
    fn segments(&self, shared: &segments::Shared<'_, S>) -> Result<(), RunError> {
        (self.segments)(shared)
    }

    #[inline(always)]
    fn windows(&self, shared: &windows::Shared<'_>) -> Result<(), windows::Failure> {
        (self.windows)(shared)
    }
}

/// The [`Parts`] of a tier for a sink, given what makes its inner loops.
macro_rules! parts {
    ($sink:ident, $inner:expr) => {
        $crate::cores::occupancy::loops::Parts {
            inner: $inner,
            segments: |shared: &$crate::cores::occupancy::streaming::segments::Shared<'_, $sink>| {
                shared.work($crate::cores::occupancy::streaming::segments::Alone($inner))
            },
            windows: |shared: &$crate::cores::occupancy::windows::Shared<'_>| shared.work($inner),
            sink: std::marker::PhantomData,
        }
    };
}
use parts;

/// 64-bit words of plain Rust.
pub mod plain {
    use super::*;
    use crate::cores::occupancy::streaming::Plain;

    #[inline(always)]
    pub fn parts<S: Sink>() -> impl Loops<S> {
        parts!(S, Plain)
    }
}
