//! Why a kernel cannot handle an input.

use crate::text::units::{bytes, span};

/// The reason why a kernel cannot or may not handle an input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The kernel is made for CPUs of another architecture.
    #[error("made for {needs}")]
    Architecture {
        /// The architecture.
        needs: &'static str,
    },
    /// The kernel is made for targets, or compilers, with a property that those of this build lack.
    #[error("made for builds with {needs}")]
    Target {
        /// The property, as a condition of `cfg`.
        needs: &'static str,
    },
    /// The kernel is not compiled into this build.
    #[error("not compiled in; build with --features {}", .features.join(","))]
    NotCompiled {
        /// The Cargo features that compile the kernel.
        features: &'static [&'static str],
    },
    /// The CPU (or the cap on it) lacks the tier.
    #[error("needs the {needs} tier and this machine offers {}", .offers.join(", "))]
    Tier {
        /// The kernel's tier.
        needs: &'static str,
        /// The machine's tiers.
        offers: Vec<&'static str>,
    },
    /// The kernel starts threads, and this system has none.
    #[error("it starts threads and this system has none")]
    NoThreads,
    /// The kernel needs at least this number of threads.
    #[error("needs at least {0} threads")]
    Threads(usize),
    /// The kernel is not made for inputs of this kind or size.
    #[error("the input is outside its domain")]
    Domain,
    /// The kernel finds only counts and sums, and the output has more.
    #[error("it finds the sum alone, not the positions")]
    TallyAlone,
    /// There is not enough free memory.
    #[error("needs {} and {} are free", bytes(*.needs), bytes(*.free as f64))]
    Memory {
        /// Bytes that the run needs.
        needs: f64,
        /// Bytes that are free.
        free: u64,
    },
    /// The run is predicted to take longer than the time limit.
    #[error("predicted to take {} a run", span(*.ns))]
    TooSlow {
        /// Predicted nanoseconds.
        ns: f64,
    },
}
