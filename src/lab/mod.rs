//! Measuring instruments: clocks, duels, ceilings, known answers, checks of kernels against them, and the environment.

pub mod ceilings;
pub mod clock;
pub mod duel;
pub mod environment;
pub mod known;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod numbers;

pub use nimlanes_foundation::verify;
