//! Why a kernel cannot do an input.

use crate::text::units::{bytes, span};

/// What stands between a kernel and an input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is made for CPUs of another architecture.
    #[error("made for {needs}")]
    Architecture {
        /// The architecture.
        needs: &'static str,
    },
    /// It is made for targets with a property that this one lacks.
    #[error("made for targets with {needs}")]
    Target {
        /// The property, as a condition of `cfg`.
        needs: &'static str,
    },
    /// It is left out of this build.
    #[error("not compiled in; build with --features {}", .features.join(","))]
    NotCompiled {
        /// The Cargo features that compile it.
        features: &'static [&'static str],
    },
    /// The CPU (or the cap on it) lacks the tier.
    #[error("needs the {needs} tier and this machine offers {}", .offers.join(", "))]
    Tier {
        /// The kernel's tier.
        needs: &'static str,
        /// The machine's.
        offers: Vec<&'static str>,
    },
    /// It runs on several threads, and none can be started.
    #[error("it starts threads and this system has none")]
    NoThreads,
    /// It needs at least this number of threads.
    #[error("needs at least {0} threads")]
    Threads(usize),
    /// It is not made for such inputs, or for so large ones.
    #[error("the input is outside its domain")]
    Domain,
    /// It finds counts and sums alone, and the output has more.
    #[error("it finds the sum alone, not the positions")]
    TallyAlone,
    /// It finds positions in another order than they are to be handed on.
    #[error("it finds positions in no order, so that none can be handed on before the end")]
    Unordered,
    /// There is not enough memory.
    #[error("needs {} and {} are free", bytes(*.needs), bytes(*.free as f64))]
    Memory {
        /// Bytes that the run needs.
        needs: f64,
        /// Bytes that are free.
        free: u64,
    },
    /// It is predicted to take longer than it may.
    #[error("predicted to take {} a run", span(*.ns))]
    TooSlow {
        /// Predicted nanoseconds.
        ns: f64,
    },
}
