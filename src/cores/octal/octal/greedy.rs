//! Sparse byte lanes: 64 heaps at a time, computed from the rare heaps and verified. See [`sparse`](crate::cores::octal::sparse).
//!
//! The rare heaps that together reach most common values are decoded. The others are tested for the least codes
//! that are still free, a few of each heap. The common heaps that together reach most rare values verify; the few values that they
//! miss are searched for.
//!
//! Cost per block and move: the decode of the tier's [parts](crate::cores::octal::sparse), the planes for about half of the rare
//! heaps, and a few operations for each other heap and test.
//! Bound: these operations. With AVX-512 the vector ports (Zen 4): a move takes `P + 15` of them, and eleven for a test.

pub use drive::single as run;

use super::input::Octal;
use crate::cores::octal::sparse::drive;
use crate::kernel::{Cost, CostContext};

/// Of the moves, those that the cost counts: the others are tested, which takes less.
const DECODED: f64 = 0.7;

/// Rate: the ns of a move and a block, if all were decoded.
pub fn cost(input: &Octal, _: CostContext, [step]: [f64; 1]) -> Cost {
    drive::cost(input, DECODED * step)
}

/// Unlike [`greedy`](super::greedy), this has two threads: one computes common values, the other follows and verifies them. See
/// [`drive::paired`].
///
/// Cost: as on one thread, plus a copy of each code.
/// Bound: the thread with more to do, which is the one that computes.
#[cfg(all(target_arch = "x86_64", feature = "avx512", feature = "parallel"))]
pub mod pair {
    pub use drive::paired as run;

    use super::*;
    use crate::machine::STACK;

    /// Of the time on one thread, that of the thread with more to do.
    const OF_LONGER: f64 = 0.65;

    /// Rates: that of the kernel on one thread, and the ns of a thread and its page faults.
    pub fn cost(input: &Octal, context: CostContext, [step, thread]: [f64; 2]) -> Cost {
        let Cost { ns, bytes } = super::cost(input, context, [step]);
        let bytes = bytes + drive::task_bytes(input) + STACK;
        Cost { ns: OF_LONGER * ns + thread, bytes }.only_if(context.threads > 1)
    }
}

/// Unlike [`greedy`](super::greedy), this has a [`window`](crate::cores::octal::sparse::window) where few heaps are rare: a value is the
/// lowest bit that is not set in an OR over these heaps. Small common heaps show in the same way that rare values are reached.
///
/// Cost and bound: those of the window.
/// Source: Flammenkamp computed games with few rare heaps to 10^11 and beyond.
pub mod windowed {
    pub use drive::windowed as run;

    use super::*;

    /// Of the time without windows, that of runs of up to 2^22 heaps, and of longer ones: a game without windows loses little, and long runs
    /// gain much.
    const FACTORS: [f64; 2] = [1.02, 0.98];

    /// Rate: that of the kernel without windows.
    pub fn cost(input: &Octal, context: CostContext, rates: [f64; 1]) -> Cost {
        let Cost { ns, bytes } = super::cost(input, context, rates);
        Cost { ns: FACTORS[usize::from(input.heaps() > 1 << 22)] * ns, bytes }
    }
}
